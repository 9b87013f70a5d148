#include "device/pending_file.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "base/atomic.hpp"

namespace isotherm::device {
namespace {

constexpr int kNames = 100;

/// A temporary name where a handler of a signal may read it. The state is released after the name
/// was written, and acquired before it is read.
struct standing_name {
  enum state { free, taken, readable };
  base::atomic<state> what{free};
  std::array<char, PATH_MAX> text{};
};
// A command writes one file and reports into two; a name beyond these only outlives a signal.
constinit std::array<standing_name, 4> standing_names;

void note_standing(const std::string& name) {
  for (standing_name& each : standing_names) {
    auto expected = standing_name::free;
    if (name.size() >= each.text.size()) return;
    if (!each.what.compare_exchange_acq_rel(expected, standing_name::taken)) continue;
    std::memcpy(each.text.data(), name.c_str(), name.size() + 1);
    each.what.store_release(standing_name::readable);
    return;
  }
}

void note_gone(const std::string& name) {
  for (standing_name& each : standing_names) {
    if (each.what.load_acquire() == standing_name::readable && name == each.text.data()) {
      each.what.store_release(standing_name::free);
    }
  }
}

/// Calls `make` with names beside `path` until one is free, which is put into `name`.
template <class Make>
auto with_free_name(const std::string& path, std::string& name, Make make) {
  for (int i = 0;; ++i) {
    const std::string tried =
        path + ".isotherm-" + std::to_string(::getpid()) + "-" + std::to_string(i);
    auto made = make(tried);
    if (made) name = tried;
    if (made || made.error().code != EEXIST || i == kNames) return made;
  }
}

}  // namespace

void remove_incomplete_files() noexcept {
  for (standing_name& each : standing_names) {
    if (each.what.load_acquire() == standing_name::readable) ::unlink(each.text.data());
  }
}

pending_file::pending_file(pending_file&& other) noexcept
    : file_(std::move(other.file_)),
      path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})) {}

pending_file& pending_file::operator=(pending_file&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(path_, other.path_);
  std::swap(temporary_, other.temporary_);
  return *this;
}

pending_file::~pending_file() {
  if (temporary_.empty()) return;
  remove_file(temporary_);
  note_gone(temporary_);
}

base::result<pending_file> pending_file::create(const std::string& path) {
  pending_file p;
  p.path_ = link_target(path);
  if (auto there = identity(p.path_); there && !there->regular) {
    return std::unexpected(
        base::error{path + " is not a regular file: name a file for the output", 0});
  } else if (!there && there.error().code != ENOENT) {
    return std::unexpected(there.error());
  }
  auto f = file::linkable(p.path_);
  if (!f && f.error().code == EOPNOTSUPP) {
    f = with_free_name(p.path_, p.temporary_,
                       [](const std::string& name) { return file::create(name); });
    if (f) note_standing(p.temporary_);
  }
  if (!f) return std::unexpected(f.error());
  p.file_ = std::move(*f);
  if (auto r = p.file_.permit_as(p.path_); !r) return std::unexpected(r.error());
  return p;
}

base::result<void> pending_file::publish() {
  if (temporary_.empty()) {
    auto r = with_free_name(path_, temporary_,
                            [this](const std::string& name) { return file_.link(name); });
    if (!r) return r;
  }
  if (auto r = file_.close(); !r) return r;
  if (auto r = rename_file(temporary_, path_); !r) return r;
  note_gone(temporary_);
  temporary_.clear();
  return {};
}

}  // namespace isotherm::device
