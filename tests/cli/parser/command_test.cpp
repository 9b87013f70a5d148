#include "cli/parser/command.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

namespace isotherm::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

enum class colour : std::uint8_t { red, green };
std::string_view name(colour which) { return which == colour::red ? "red" : "green"; }

/// A tool with a subcommand `paint`, whose values are here.
class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    paint_.add("input", input_, "what to paint").required();
    paint_.add("-c,--count", count_, "how often", std::uint16_t{1}, std::uint16_t{1000});
    paint_.add("--share", share_, "of the room", 0, 1);
    paint_.add("--limit", limit_, "of bytes");
    paint_.add("--tags", tags_, "to add");
    paint_.add_choice("--colour", colour_, {colour::red, colour::green}, "of the paint");
    paint_.add_switch("--dry", is_dry_, "change nothing");
    paint_.action([this] { ++runs_; });
  }
  int run(std::vector<const char*> words) {
    words.insert(words.begin(), {"tool", "paint"});
    ::testing::internal::CaptureStderr();
    ::testing::internal::CaptureStdout();
    const int status = tool_.run(static_cast<int>(words.size()), words.data());
    said_ = ::testing::internal::GetCapturedStderr();
    printed_ = ::testing::internal::GetCapturedStdout();
    return status;
  }
  /// One line says what is wrong, and the command does not run.
  void expect_refused(const std::vector<const char*>& words, const std::string& part) {
    const int before = runs_;
    EXPECT_EQ(run(words), 2) << part;
    EXPECT_THAT(said_, HasSubstr(part));
    EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
    EXPECT_EQ(runs_, before);
  }

  program tool_{"tool", "Paints.", "1.0"};
  command paint_ = tool_.root().subcommand("paint", "Paints a thing");
  std::string input_, said_, printed_;
  std::uint16_t count_ = 7;
  double share_ = 0.5;
  std::optional<std::uint64_t> limit_;
  std::vector<std::string> tags_;
  colour colour_ = colour::green;
  bool is_dry_ = false;
  int runs_ = 0;
};

TEST_F(CommandLine, DefaultsAreWhatTheVariablesHold) {
  EXPECT_EQ(run({"wall"}), 0);
  EXPECT_EQ(runs_, 1);
  EXPECT_EQ(input_, "wall");
  EXPECT_EQ(count_, 7);
  EXPECT_EQ(share_, 0.5);
  EXPECT_FALSE(limit_);
  EXPECT_EQ(colour_, colour::green);
  EXPECT_FALSE(is_dry_);
}

TEST_F(CommandLine, ReadsEachKindOfValue) {
  EXPECT_EQ(run({"-c", "1000", "--share", "0.25", "--limit=18446744073709551615", "--tags", "a,b",
                 "--colour", "red", "--dry", "wall"}),
            0);
  EXPECT_EQ(count_, 1000);
  EXPECT_EQ(share_, 0.25);
  EXPECT_EQ(limit_, 18446744073709551615u);
  EXPECT_THAT(tags_, ElementsAre("a", "b"));
  EXPECT_EQ(colour_, colour::red);
  EXPECT_TRUE(is_dry_);
}

TEST_F(CommandLine, NumbersAreDecimalWholeAndInRange) {
  for (const char* wrong :
       {"0", "1001", "65536", "-1", "0x10", "1e2", "1.5", "", " 5", "5 ", "x"}) {
    expect_refused({"--count", wrong, "wall"}, "--count");
  }
  EXPECT_EQ(run({"--count", "010", "wall"}), 0);
  EXPECT_EQ(count_, 10) << "no octal";
}

TEST_F(CommandLine, FractionsAreFiniteAndInRange) {
  for (const char* wrong : {"1.01", "-0.1", "nan", "inf", "0x1p-1", "half", ""}) {
    expect_refused({"--share", wrong, "wall"}, "--share");
  }
}

TEST_F(CommandLine, AWordIsOneOfThose) {
  expect_refused({"--colour", "blue", "wall"}, "--colour");
  EXPECT_THAT(said_, HasSubstr("red"));
}

TEST_F(CommandLine, WhatIsMissingUnknownOrTooMuchIsRefused) {
  expect_refused({}, "input");
  expect_refused({"--size", "3", "wall"}, "--size");
  expect_refused({"wall", "floor"}, "floor");
  expect_refused({"wall", "--count"}, "--count");
  expect_refused({"wall", "--count", "1", "--count", "2"}, "--count");
}

TEST_F(CommandLine, AnAddressBehindADashIsAValue) {
  EXPECT_EQ(run({"wall", "--tags", "127.0.0.1", "-::1", "--dry"}), 0);
  EXPECT_THAT(tags_, ElementsAre("127.0.0.1", "-::1"));
  EXPECT_TRUE(is_dry_);
  EXPECT_EQ(run({"wall", "--tags", "-::*"}), 0);
  EXPECT_THAT(tags_, ElementsAre("-::*"));
  EXPECT_EQ(run({"wall", "--tags", "-::1", "-::*"}), 0);
  EXPECT_THAT(tags_, ElementsAre("-::1", "-::*"));
  EXPECT_EQ(run({"wall", "--tags=127.0.0.1", "-::1"}), 0);
  EXPECT_THAT(tags_, ElementsAre("127.0.0.1", "-::1"));
}

TEST_F(CommandLine, TheLastOfAFlagMayCount) {
  command last = tool_.root().subcommand("paint", "");
  std::uint16_t times = 0;
  last.let_last_flag_count();
  last.add("--times", times, "how often");
  EXPECT_EQ(run({"wall", "--times", "1", "--times", "2"}), 0);
  EXPECT_EQ(times, 2);
}

TEST_F(CommandLine, OptionsMayNeedOrExcludeEachOther) {
  std::string one, other;
  option first = paint_.add("--first", one, "");
  option second = paint_.add("--second", other, "");
  option third = paint_.add_switch("--third", is_dry_, "");
  second.excludes(first);
  third.needs(first);
  expect_refused({"wall", "--first", "a", "--second", "b"}, "--first");
  expect_refused({"wall", "--third"}, "--first");
  EXPECT_EQ(run({"wall", "--first", "a", "--third"}), 0);
}

TEST_F(CommandLine, HelpShowsDefaultsAndRunsNothing) {
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_EQ(runs_, 0);
  EXPECT_THAT(printed_, HasSubstr("--count"));
  EXPECT_THAT(printed_, HasSubstr("=7"));
  EXPECT_THAT(printed_, HasSubstr("green"));
}

TEST_F(CommandLine, AShortFlagOfHelpMayBeTheCommandsOwn) {
  bool is_human = false;
  paint_.free_short_help();
  paint_.add_switch("-h", is_human, "numbers with units");
  EXPECT_EQ(run({"wall", "-h"}), 0);
  EXPECT_TRUE(is_human);
  EXPECT_EQ(run({"--help"}), 0);
  EXPECT_THAT(printed_, HasSubstr("Print this help message and exit"));
}

TEST_F(CommandLine, ASubcommandIsFoundAgainByItsName) {
  EXPECT_TRUE(tool_.root().subcommand("paint", "").was_given("--count") == false);
  EXPECT_EQ(run({"wall", "--count", "3"}), 0);
  EXPECT_TRUE(paint_.was_given("--count"));
  EXPECT_FALSE(paint_.was_given("--share"));
}

}  // namespace
}  // namespace isotherm::cli
