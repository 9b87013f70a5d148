// Outputs that are mount points, and outputs on a system without /proc: as in containers. A test
// is a child process with mounts of its own.
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <span>
#include <string>

#include "os/faults.hpp"
#include "os/files/paths.hpp"
#include "os/files/pending_file.hpp"
#include "os/files/spool.hpp"
#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

/// Runs `body`, which returns whether all was as it should be, in a process that may mount.
void with_own_mounts(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool own = ::unshare(CLONE_NEWNS) == 0 || ::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    const bool apart = own && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
    ::_exit(apart && body() ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), EXIT_SUCCESS);
}

bool said(const base::result<void>& r) {
  if (!r) std::cerr << r.error().message << '\n';
  return r.has_value();
}

base::result<void> write_to(const std::string& path, const std::string& text,
                            const std::string& waits) {
  auto f = pending_file::create(path, waits);
  if (!f) return std::unexpected(f.error());
  if (auto r = f->handle().write(std::as_bytes(std::span(text)), 0); !r) return r;
  if (auto r = f->sync(); !r) return r;
  if (auto r = f->publish(); !r) return r;
  return f->sync_name();
}

/// A file, and another that is mounted over it.
struct mounted {
  mounted() {
    store(dir.file("outside"), "the old contents");
    store(dir.file("out"), "");
    std::filesystem::create_directory(dir.file("waits"));
  }
  bool mount() const {
    return ::mount(dir.file("outside").c_str(), dir.file("out").c_str(), nullptr, MS_BIND,
                   nullptr) == 0;
  }
  base::result<void> write(const std::string& text) const {
    return write_to(dir.file("out"), text, dir.file("waits"));
  }
  const scratch dir;
};

TEST(Mounts, AFileThatIsMountedIsWrittenInPlace) {
  const mounted m;
  with_own_mounts([&] {
    return m.mount() && is_mount_point(m.dir.file("out")) &&
           !is_mount_point(m.dir.file("outside")) && said(m.write("new"));
  });
  EXPECT_EQ(contents(m.dir.file("outside")), "new");
}

TEST(Mounts, AFileThatIsMountedStaysUntilTheNewOneIsWhole) {
  const mounted m;
  with_own_mounts([&] {
    if (!m.mount()) return false;
    auto f = pending_file::create(m.dir.file("out"), m.dir.file("waits"));
    return f && f->handle().write(std::as_bytes(std::span("new", 3)), 0);
  });
  EXPECT_EQ(contents(m.dir.file("outside")), "the old contents");
}

TEST(Mounts, AFileThatIsMountedStaysWhereTheNewOneHasNoRoom) {
  const mounted m;
  with_own_mounts([&] {
    if (!m.mount()) return false;
    set_fault_hook(
        [n = 0](io_call c) mutable { return c == io_call::resize && ++n == 1 ? ENOSPC : 0; });
    const auto r = m.write("something longer than the old contents");
    return !r && r.error().code == ENOSPC;
  });
  EXPECT_EQ(contents(m.dir.file("outside")), "the old contents");
}

TEST(Mounts, AFileThatIsMountedReadOnlyIsRefusedAtOnce) {
  const mounted m;
  with_own_mounts([&] {
    if (!m.mount() || ::mount("none", m.dir.file("out").c_str(), nullptr,
                              MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return false;
    }
    const auto f = pending_file::create(m.dir.file("out"), m.dir.file("waits"));
    return !f && f.error().code == EROFS;
  });
}

bool hide_proc() { return ::mount("none", "/proc", "tmpfs", 0, nullptr) == 0; }

TEST(Mounts, AFileIsWrittenAndReplacedWithoutProc) {
  const scratch dir;
  store(dir.file("old"), "old");
  with_own_mounts([&] {
    return hide_proc() && said(write_to(dir.file("new"), "new", "")) &&
           said(write_to(dir.file("old"), "new", ""));
  });
  EXPECT_EQ(contents(dir.file("new")), "new");
  EXPECT_EQ(contents(dir.file("old")), "new");
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(Mounts, StandardInputAndOutputHaveTheirNamesWithoutProc) {
  with_own_mounts([&] {
    return hide_proc() && named_descriptor(spelled_out("-", STDIN_FILENO)) == STDIN_FILENO &&
           named_descriptor("/dev/stdout") == STDOUT_FILENO && !named_descriptor("/dev/null");
  });
}

}  // namespace
}  // namespace isotherm::os
