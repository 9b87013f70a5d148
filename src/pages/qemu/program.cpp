#include "pages/qemu/program.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "os/files/file.hpp"

namespace isotherm::pages {
namespace {

constexpr const char* kPlugin = "isotherm-pages-qemu.so";
constexpr const char* kPreload = "isotherm-pages-objects.so";

std::unexpected<base::error> refused(const std::string& line) {
  return std::unexpected(base::error{line});
}

bool is_program(const std::string& path) {
  struct stat facts;
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_in_path(const std::string& name) {
  const char* const variable = std::getenv("PATH");
  std::string_view folders = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string path(end == 0 ? "." : folders.substr(0, end));
    path.append("/").append(name);
    if (is_program(path)) return path;
    if (end == folders.size()) return std::nullopt;
    folders.remove_prefix(end + 1);
  }
}

base::result<void> check_rights(const std::string& path) {
  struct stat facts;
  if (::stat(path.c_str(), &facts) != 0) {
    return std::unexpected(base::system_error("cannot find the program " + path, errno));
  }
  if (!S_ISREG(facts.st_mode)) return refused(path + " is no program but a folder or a device");
  if (::access(path.c_str(), X_OK) != 0) {
    return refused(path + " may not be executed: check its permissions (chmod +x)");
  }
  const bool other_user = (facts.st_mode & S_ISUID) != 0 && facts.st_uid != ::geteuid();
  const bool other_group = (facts.st_mode & S_ISGID) != 0 && facts.st_gid != ::getegid();
  if (other_user || other_group) {
    return refused(path +
                   " runs with another user's rights (set-user-ID), which it would not have under "
                   "observation: run isotherm pages as that user");
  }
  return {};
}

/// The first words of a script: "#!/bin/sh".
base::result<void> refuse_script(const std::string& path, std::string_view begin) {
  const std::string_view first = begin.substr(2, begin.find('\n') - 2);
  const std::size_t word = std::min(first.find_first_not_of(' '), first.size());
  return refused(path + " is a script: name the program that reads it, as in isotherm pages -- " +
                 std::string(first.substr(word)) + " " + path);
}

base::result<void> check_contents(const std::string& path) {
  auto file = os::file::open(path);
  if (!file) return std::unexpected(file.error());
  std::array<char, 256> begin{};
  const auto got = file->read_some(std::as_writable_bytes(std::span(begin)), 0);
  if (!got) return std::unexpected(got.error());
  const std::string_view text(begin.data(), *got);
  if (text.starts_with("#!")) return refuse_script(path, text);
  if (!text.starts_with(ELFMAG) || text.size() < sizeof(Elf64_Ehdr)) {
    return refused(path + " is no program of Linux (ELF)");
  }
  Elf64_Ehdr head;
  std::memcpy(&head, begin.data(), sizeof head);
  if (head.e_ident[EI_CLASS] != ELFCLASS64) {
    return refused(path + " is a 32-bit program: only programs of 64 bits can be observed");
  }
  if (head.e_machine != EM_X86_64) {
    return refused(path + " is a program for another processor than x86-64");
  }
  return {};
}

/// A shared object of Isotherm's, as built or as installed.
base::result<std::string> find_beside(const std::string& name) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  const auto prefix = self.parent_path().parent_path();
  for (const char* const folder : {"lib", ISOTHERM_PLUGIN_FOLDER}) {
    const auto path = prefix / folder / name;
    if (std::filesystem::exists(path, failure)) return path.string();
  }
  return refused("the library " + name + " is not in " + (prefix / "lib").string() + " or " +
                 (prefix / ISOTHERM_PLUGIN_FOLDER).string() + ": install isotherm anew");
}

}  // namespace

base::result<std::string> find_program(const std::string& name) {
  std::string path = name;
  if (!name.contains('/')) {
    const auto found = find_in_path(name);
    if (!found) return refused("there is no program '" + name + "' in the folders of PATH");
    path = *found;
  }
  if (auto r = check_rights(path); !r) return std::unexpected(r.error());
  if (auto r = check_contents(path); !r) return std::unexpected(r.error());
  return path;
}

base::result<std::string> find_qemu() {
  if (auto found = find_in_path("qemu-x86_64")) return *found;
  return refused(
      "running a program under observation takes user-mode QEMU (qemu-x86_64), which is not "
      "installed: on Debian, apt-get install qemu-user");
}

bool loads_libraries(const std::string& path) {
  const auto file = os::file::open(path);
  Elf64_Ehdr head{};
  if (!file || !file->read(std::as_writable_bytes(std::span(&head, 1)), 0)) return false;
  std::vector<Elf64_Phdr> parts(head.e_phnum);
  return file->read(std::as_writable_bytes(std::span(parts)), head.e_phoff) &&
         std::ranges::find(parts, PT_INTERP, &Elf64_Phdr::p_type) != parts.end();
}

base::result<std::string> find_plugin() { return find_beside(kPlugin); }

base::result<std::string> find_preload() { return find_beside(kPreload); }

}  // namespace isotherm::pages
