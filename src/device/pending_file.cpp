#include "device/pending_file.hpp"

#include <unistd.h>

#include <cerrno>

namespace isotherm::device {
namespace {

constexpr int kNames = 100;

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
  if (!temporary_.empty()) remove_file(temporary_);
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
  temporary_.clear();
  return {};
}

}  // namespace isotherm::device
