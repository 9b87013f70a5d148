// A program that replaces itself by another one, under observation: QEMU inside the process gives
// way to a new QEMU, with the plugin, that runs the new program.
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "pages/qemu/control.hpp"
#include "pages/qemu/program_memory.hpp"

namespace isotherm::pages {

/// Arguments and environment of an execve(), copied from the program, and the words of QEMU.
class replacement {
 public:
  /// Null where there is no memory.
  static replacement* make() noexcept {
    void* const memory = ::mmap(nullptr, sizeof(replacement), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<replacement*>(memory);
  }
  void unmake() noexcept { ::munmap(this, sizeof *this); }

  /// Runs QEMU with `plugin`, the words of its option, in this process. Returns only where it
  /// cannot: the program passes addresses that are no memory, or more than a system takes.
  void run(const char* plugin, const char* path, std::uint64_t arguments,
           std::uint64_t environment) noexcept {
    char qemu[1024];
    const ssize_t length = ::readlink("/proc/self/exe", qemu, sizeof qemu - 1);
    if (length <= 0) return;
    qemu[length] = '\0';
    char option[] = "-plugin", name[] = "-0", no_name[] = "";
    char** const own = words_;
    if (!copy_words(arguments, own + kOwnWords) || !copy_words(environment, variables_)) return;
    char* const first = own[kOwnWords] != nullptr ? own[kOwnWords] : no_name;
    char* const front[kOwnWords] = {qemu, option, const_cast<char*>(plugin), name, first};
    std::copy(std::begin(front), std::end(front), own);
    own[kOwnWords] = const_cast<char*>(path);  // the program's own first word follows -0
    ::execve(qemu, own, variables_);
  }

 private:
  static constexpr std::size_t kOwnWords = 5, kWordsMost = 1 << 17, kTextBytes = 6 << 20;

  bool copy_words(std::uint64_t list, char** to) noexcept {
    for (std::size_t i = 0; list != 0 && i < kWordsMost; ++i) {
      std::uint64_t word = 0;
      if (!copy_whole(list + i * sizeof word, &word, sizeof word)) return false;
      if (word == 0) return true;
      if ((to[i] = copy_word(word)) == nullptr) return false;
    }
    return list == 0;
  }

  /// Copies a text; null where it is no memory, or there is no room for it.
  char* copy_word(std::uint64_t address) noexcept {
    char* const begin = text_ + text_used_;
    while (text_used_ < kTextBytes) {
      const std::size_t piece = std::min<std::size_t>(256, kTextBytes - text_used_);
      const std::size_t copied = copy_some(address, text_ + text_used_, piece);
      if (const void* zero = std::memchr(text_ + text_used_, '\0', copied)) {
        text_used_ = static_cast<const char*>(zero) - text_ + 1;
        return begin;
      }
      if (copied < piece) return nullptr;
      text_used_ += copied;
      address += copied;
    }
    return nullptr;
  }

  std::size_t text_used_;
  char* words_[kOwnWords + kWordsMost + 1];
  char* variables_[kWordsMost + 1];
  char text_[kTextBytes];
};

/// Whether QEMU can run the file as the kernel would: a program of x86-64 without another user's
/// rights. A script is none, and QEMU takes a path that begins with a dash for an option.
inline bool can_follow(const char* path) noexcept {
  struct stat facts;
  Elf64_Ehdr head;
  const int file = *path != '-' ? ::open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return false;
  const bool read = ::fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                    ::read(file, &head, sizeof head) == ssize_t(sizeof head);
  ::close(file);
  return read && (facts.st_mode & (S_ISUID | S_ISGID)) == 0 && ::access(path, X_OK) == 0 &&
         std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
         head.e_machine == EM_X86_64;
}

/// Replaces this process by QEMU, which runs the program at `path` under observation, as
/// execve(path, arguments, environment) of the observed program. Returns where that cannot be done:
/// the program then replaces itself without QEMU, or learns why it cannot.
inline void follow(control& shared, pid_t tool, const char* path, std::uint64_t arguments,
                   std::uint64_t environment) noexcept {
  if (!can_follow(path)) return;
  int files[2] = {-1, -1};
  for (int i = 0; i < 2; ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "/proc/%d/fd/%u", tool, shared.files[i]);
    files[i] = ::open(name, O_RDWR);
  }
  replacement* const words = replacement::make();
  if (files[0] >= 0 && files[1] >= 0 && words != nullptr) {
    char plugin[2 * sizeof shared.plugin];
    std::snprintf(plugin, sizeof plugin, "%s,control=%d,shadow=%d,replaces=1", shared.plugin,
                  files[0], files[1]);
    words->run(plugin, path, arguments, environment);
  }
  if (words != nullptr) words->unmake();
  for (const int file : files) {
    if (file >= 0) ::close(file);
  }
}

}  // namespace isotherm::pages
