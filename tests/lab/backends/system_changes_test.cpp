// The list of changes: undone at the end, and by the next run after a kill.
#include "lab/backends/system/system_changes.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace isotherm::lab {
namespace {

namespace fs = std::filesystem;

class SystemChanges : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/isotherm-changes-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return folder_ + '/' + name; }
  std::string list() const { return path("list"); }
  static void put(const std::string& file, const std::string& text) { std::ofstream(file) << text; }
  /// Makes changes in a process that is killed while they stand.
  static void be_killed_after(const std::function<void()>& change) {
    const pid_t child = fork();
    if (child == 0) {
      change();
      _exit(0);  // nothing is destroyed
    }
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_EQ(status, 0);
  }

  std::string folder_;
  std::vector<std::string> mended_;
};

TEST_F(SystemChanges, AreUndoneAtTheEndAndTheListIsGone) {
  put(path("file"), "x");
  put(path("text"), "before\n");
  {
    auto changes = system_changes::open(list(), mended_);
    ASSERT_TRUE(changes) << changes.error().message;
    ASSERT_TRUE(changes->note(change::file, path("file")));
    ASSERT_TRUE(changes->write(path("text"), "after"));
    EXPECT_EQ(read_text(path("text")), "after");
  }
  EXPECT_FALSE(fs::exists(path("file")));
  EXPECT_EQ(read_text(path("text")), "before");
  EXPECT_FALSE(fs::exists(list()));
  EXPECT_TRUE(mended_.empty());
}

TEST_F(SystemChanges, OfAKilledRunAreUndoneByTheNext) {
  put(path("file"), "x");
  put(path("text"), "before");
  be_killed_after([&] {
    std::vector<std::string> none;
    auto* const changes = new base::result(system_changes::open(list(), none));
    if (!(*changes)->note(change::file, path("file"))) _exit(1);
    if (!(*changes)->write(path("text"), "after")) _exit(2);
  });
  EXPECT_TRUE(fs::exists(path("file")));
  EXPECT_EQ(read_text(path("text")), "after");
  const auto changes = system_changes::open(list(), mended_);
  ASSERT_TRUE(changes) << changes.error().message;
  EXPECT_EQ(mended_,
            (std::vector<std::string>{"file " + path("file"), "text " + path("text") + " before"}));
  EXPECT_FALSE(fs::exists(path("file")));
  EXPECT_EQ(read_text(path("text")), "before");
  EXPECT_EQ(changes->count(), 0U);
}

TEST_F(SystemChanges, AreOneRunsAtATime) {
  const auto first = system_changes::open(list(), mended_);
  ASSERT_TRUE(first);
  const auto second = system_changes::open(list(), mended_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("another isotherm bench backends runs"), std::string::npos);
}

TEST_F(SystemChanges, AreUndoneDownToACount) {
  auto changes = system_changes::open(list(), mended_);
  ASSERT_TRUE(changes);
  put(path("first"), "x");
  put(path("second"), "x");
  ASSERT_TRUE(changes->note(change::file, path("first")));
  ASSERT_TRUE(changes->note(change::file, path("second")));
  ASSERT_TRUE(changes->undo_to(1));
  EXPECT_TRUE(fs::exists(path("first")));
  EXPECT_FALSE(fs::exists(path("second")));
  EXPECT_EQ(read_text(list()), "file " + path("first"));
}

TEST_F(SystemChanges, ThatCannotBeUndoneStayOnTheList) {
  put(path("text"), "before");
  put(path("file"), "x");
  be_killed_after([&] {
    std::vector<std::string> none;
    auto* const changes = new base::result(system_changes::open(list(), none));
    if (!(*changes)->note(change::file, path("file"))) _exit(1);
    if (!(*changes)->write(path("text"), "after")) _exit(2);
  });
  fs::remove(path("text"));
  fs::create_directory(path("text"));
  const auto stuck = system_changes::open(list(), mended_);
  ASSERT_FALSE(stuck);
  EXPECT_NE(stuck.error().message.find(path("text")), std::string::npos);
  EXPECT_FALSE(fs::exists(path("file"))) << "the others are undone";
  fs::remove(path("text"));
  put(path("text"), "");
  mended_.clear();
  ASSERT_TRUE(system_changes::open(list(), mended_));
  EXPECT_EQ(read_text(path("text")), "before");
}

TEST_F(SystemChanges, ALineThatWasHalfWrittenIsNotOne) {
  put(path("file"), "x");
  put(list(), "file " + path("file"));  // no line feed
  ASSERT_TRUE(system_changes::open(list(), mended_));
  EXPECT_TRUE(fs::exists(path("file")));
}

TEST_F(SystemChanges, AGroupOfAnotherNameIsLeftAlone) {
  fs::create_directory(path("other"));
  put(path("other/cgroup.procs"), std::to_string(getpid()) + '\n');
  put(list(), "group " + path("other") + '\n');
  ASSERT_TRUE(system_changes::open(list(), mended_));
  EXPECT_TRUE(fs::exists(path("other")));
}

TEST_F(SystemChanges, OfAChoiceTheChosenWordIsWrittenBack) {
  put(path("text"), "always [madvise] never\n");
  {
    auto changes = system_changes::open(list(), mended_);
    ASSERT_TRUE(changes);
    ASSERT_TRUE(changes->write(path("text"), "never"));
  }
  EXPECT_EQ(read_text(path("text")), "madvise");
}

TEST_F(SystemChanges, AControllerIsDisabledOnlyWhereNoOtherGroupMayUseIt) {
  const std::string enabled = path("cgroup.subtree_control");
  put(enabled, "");
  {
    auto changes = system_changes::open(list(), mended_);
    ASSERT_TRUE(changes);
    ASSERT_TRUE(changes->enable(folder_, "memory"));
    EXPECT_EQ(read_text(enabled), "+memory");
  }
  EXPECT_EQ(read_text(enabled), "-memory");
  auto changes = system_changes::open(list(), mended_);
  ASSERT_TRUE(changes);
  ASSERT_TRUE(changes->enable(folder_, "memory"));
  fs::create_directory(path("another program's"));
  ASSERT_TRUE(changes->undo_to(0));
  EXPECT_EQ(read_text(enabled), "+memory");
  EXPECT_EQ(changes->count(), 0U);
}

TEST_F(SystemChanges, CannotBeMadeWithoutAList) {
  system_changes none = system_changes::none();
  const auto noted = none.note(change::file, path("file"));
  ASSERT_FALSE(noted);
  EXPECT_NE(noted.error().message.find("root"), std::string::npos);
}

}  // namespace
}  // namespace isotherm::lab
