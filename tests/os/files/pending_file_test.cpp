// A file that takes the place of another keeps its permissions, and is on the device before it has
// the name.
#include "os/files/pending_file.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "os/faults.hpp"
#include "os/files/file_system.hpp"
#include "os/files/paths.hpp"
#include "sort/scratch.hpp"

namespace isotherm::os {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

struct ::stat status_of(const std::string& path) {
  struct ::stat s{};
  EXPECT_EQ(::stat(path.c_str(), &s), 0) << path;
  return s;
}

void replace(const std::string& path, bool durable = true) {
  auto f = pending_file::create(path);
  ASSERT_TRUE(f) << f.error().message;
  ASSERT_TRUE(f->handle().write(std::as_bytes(std::span("new", 3)), 0));
  if (durable) {
    ASSERT_TRUE(f->sync());
  }
  auto r = f->publish();
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(contents(path), "new");
}

TEST(PendingFile, KeepsTheModeOfWhatItReplaces) {
  const scratch dir;
  for (const mode_t mode : {0600, 0640, 0751, 0666}) {
    store(dir.file("out"), "old");
    ASSERT_EQ(::chmod(dir.file("out").c_str(), mode), 0);
    replace(dir.file("out"));
    EXPECT_EQ(status_of(dir.file("out")).st_mode & 07777, mode);
  }
}

TEST(PendingFile, NewFilesHaveTheUsualMode) {
  const scratch dir;
  const mode_t mask = ::umask(027);
  replace(dir.file("out"));
  ::umask(mask);
  EXPECT_EQ(status_of(dir.file("out")).st_mode & 07777, mode_t{0640});
}

// New contents do not get the old ones' right to act for another user.
TEST(PendingFile, LeavesOutSetUserId) {
  const scratch dir;
  store(dir.file("out"), "old");
  ASSERT_EQ(::chmod(dir.file("out").c_str(), 06755), 0);
  replace(dir.file("out"));
  EXPECT_EQ(status_of(dir.file("out")).st_mode & 07777, mode_t{0755});
}

TEST(PendingFile, FollowsLinksToWhatIsNotThereYet) {
  const scratch dir;
  ASSERT_EQ(::mkdir(dir.file("d").c_str(), 0777), 0);
  ASSERT_EQ(::symlink("d/second", dir.file("first").c_str()), 0);
  ASSERT_EQ(::symlink("real", dir.file("d/second").c_str()), 0);
  EXPECT_EQ(link_target(dir.file("first")), dir.file("d/real"));
  EXPECT_TRUE(same_file(dir.file("first"), dir.file("d/../d/real")));
  EXPECT_FALSE(same_file(dir.file("first"), dir.file("real")));
  replace(dir.file("first"));
  EXPECT_EQ(contents(dir.file("d/real")), "new");
  EXPECT_TRUE(same_file(dir.file("first"), dir.file("d/real")));
  ASSERT_EQ(::symlink("loop", dir.file("loop").c_str()), 0);
  EXPECT_FALSE(pending_file::create(dir.file("loop")));
}

// A process that may give files away keeps the owner; another cannot make such a file at all.
TEST(PendingFile, KeepsTheOwnerOfWhatItReplaces) {
  const scratch dir;
  store(dir.file("out"), "old");
  const uid_t owner = ::geteuid() == 0 ? 12345 : ::geteuid();
  const gid_t group = ::geteuid() == 0 ? 54321 : ::getegid();
  ASSERT_EQ(::chown(dir.file("out").c_str(), owner, group), 0);
  replace(dir.file("out"));
  EXPECT_EQ(status_of(dir.file("out")).st_uid, owner);
  EXPECT_EQ(status_of(dir.file("out")).st_gid, group);
}

TEST(PendingFile, IsOnTheDeviceBeforeItHasItsName) {
  const scratch dir;
  store(dir.file("out"), "old");
  for (const bool durable : {true, false}) {
    std::vector<io_call> calls;
    set_fault_hook([&](io_call c) {
      calls.push_back(c);
      return 0;
    });
    replace(dir.file("out"), durable);
    set_fault_hook({});
    const auto at = [&](io_call c) { return std::find(calls.begin(), calls.end(), c); };
    EXPECT_EQ(at(io_call::sync) != calls.end(), durable);
    ASSERT_NE(at(io_call::rename), calls.end());
    EXPECT_LT(at(io_call::write), at(io_call::rename));
    if (durable) {
      EXPECT_LT(at(io_call::write), at(io_call::sync));
      EXPECT_LT(at(io_call::sync), at(io_call::link));
    }
  }
}

TEST(PendingFile, TheDirectoryIsOnTheDeviceBehindTheName) {
  const scratch dir;
  std::vector<io_call> calls;
  auto f = pending_file::create(dir.file("out"));
  ASSERT_TRUE(f);
  set_fault_hook([&](io_call c) {
    calls.push_back(c);
    return calls.size() == 4 ? EIO : 0;
  });
  ASSERT_TRUE(f->publish());
  auto r = f->sync_name();
  set_fault_hook({});
  EXPECT_EQ(calls, (std::vector{io_call::open, io_call::close, io_call::link, io_call::sync}));
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("is complete, but"), std::string::npos) << r.error().message;
}

/// A process that is killed when it is to make this call.
void die_in(io_call last, const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    set_fault_hook([&](io_call c) {
      if (c == last) ::raise(SIGKILL);
      return 0;
    });
    auto f = pending_file::create(path);
    if (f) f->publish();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(PendingFile, ANewNameIsGivenInOneStep) {
  const scratch dir;
  unsigned renamed = 0;
  set_fault_hook([&](io_call c) {
    renamed += c == io_call::rename;
    return 0;
  });
  replace(dir.file("out"));
  set_fault_hook({});
  EXPECT_EQ(renamed, 0u);
  for (const io_call last : {io_call::open, io_call::close, io_call::link}) {
    die_in(last, dir.file("other"));
    EXPECT_EQ(dir.entries(), 1u);
  }
}

TEST(PendingFile, WhatAKilledProcessLeftIsRemovedByTheNext) {
  const scratch dir;
  store(dir.file("out"), "old");
  die_in(io_call::rename, dir.file("out"));
  ASSERT_EQ(dir.entries(), 2u);
  EXPECT_EQ(contents(dir.file("out")), "old");
  replace(dir.file("out"));
  EXPECT_EQ(dir.entries(), 1u);
}

/// The name that a process which is killed while it replaces `path` leaves in its directory.
std::string left_by_a_killed_process(const scratch& dir, const std::string& path) {
  store(path, "old");
  die_in(io_call::rename, path);
  std::string name;
  for (const auto& each : std::filesystem::directory_iterator(dir.path())) {
    if (each.path().filename() != std::filesystem::path(path).filename()) name = each.path();
  }
  EXPECT_EQ(dir.entries(), 2u);
  return name;
}

TEST(PendingFile, AUsersFileStaysWhateverItsName) {
  const scratch dir;
  const std::string name = left_by_a_killed_process(dir, dir.file("out"));
  std::filesystem::remove(name);
  store(name, "mine");
  replace(dir.file("out"));
  EXPECT_EQ(contents(name), "mine");
  EXPECT_EQ(dir.entries(), 2u);
}

TEST(PendingFile, WhatAKilledProcessLeftStaysUnderANameThatAUserGaveIt) {
  const scratch dir;
  std::string name = left_by_a_killed_process(dir, dir.file("out"));
  const std::string old = name;
  name.back() = '1';
  std::filesystem::rename(old, name);
  replace(dir.file("out"));
  EXPECT_TRUE(std::filesystem::exists(name));
}

TEST(PendingFile, TheInputStaysEvenIfAKilledProcessLeftIt) {
  const scratch dir;
  const std::string name = left_by_a_killed_process(dir, dir.file("out"));
  auto input = file::open(name);
  ASSERT_TRUE(input);
  ASSERT_TRUE(pending_file::create(dir.file("out"), {}, &*input));
  EXPECT_TRUE(std::filesystem::exists(name));
}

TEST(PendingFile, ReplacesAFileWithTheLongestName) {
  const scratch dir;
  const std::string path = dir.file(std::string(NAME_MAX, 'n'));
  store(path, "old");
  replace(path);
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(PendingFile, NoMarkRemains) {
  const scratch dir;
  store(dir.file("out"), "old");
  replace(dir.file("out"));
  EXPECT_LT(::getxattr(dir.file("out").c_str(), "user.isotherm", nullptr, 0), 0);
}

TEST(PendingFile, AHandlerOfASignalRemovesTheNameThatReplaces) {
  const scratch dir;
  store(dir.file("out"), "old");
  auto f = pending_file::create(dir.file("out"));
  ASSERT_TRUE(f);
  std::vector<std::size_t> entries;
  set_fault_hook([&](io_call c) {
    if (c != io_call::rename) return 0;
    entries.push_back(dir.entries());
    remove_incomplete_files();
    entries.push_back(dir.entries());
    return EIO;
  });
  EXPECT_FALSE(f->publish());
  set_fault_hook({});
  EXPECT_EQ(entries, (std::vector<std::size_t>{2, 1}));
}

TEST(PendingFile, WhatAnotherProcessIsWritingStays) {
  const scratch dir;
  set_fault_hook([creates = 0](io_call c) mutable {  // as on NFS
    return c == io_call::create && ++creates == 1 ? EOPNOTSUPP : 0;
  });
  auto first = pending_file::create(dir.file("out"));
  set_fault_hook({});
  ASSERT_TRUE(first);
  ASSERT_EQ(dir.entries(), 1u);
  replace(dir.file("out"));
  EXPECT_EQ(dir.entries(), 2u);
  ASSERT_TRUE(first->publish());
  EXPECT_EQ(dir.entries(), 1u);
  EXPECT_EQ(contents(dir.file("out")), "");
}

TEST(PendingFile, AHandlerOfASignalRemovesTheNamesOfWhatIsIncomplete) {
  const scratch dir;
  store(dir.file("out"), "old");
  // Models NFS, which has no files without a name.
  set_fault_hook([creates = 0](io_call c) mutable {
    return c == io_call::create && ++creates % 2 == 1 ? EOPNOTSUPP : 0;
  });
  auto published = pending_file::create(dir.file("out"));
  auto pending = pending_file::create(dir.file("other"));
  set_fault_hook({});
  ASSERT_TRUE(published && pending);
  ASSERT_TRUE(published->publish());
  EXPECT_EQ(dir.entries(), 2u);
  remove_incomplete_files();
  EXPECT_EQ(dir.entries(), 1u);
  EXPECT_EQ(contents(dir.file("out")), "");
}

}  // namespace
}  // namespace isotherm::os
