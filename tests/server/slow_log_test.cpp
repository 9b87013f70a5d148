// Counts behind SLOWLOG, LATENCY and INFO commandstats.
#include "server/timing/slow_log.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "server/commands/families.hpp"
#include "server/server.hpp"
#include "server/timing/command_times.hpp"

namespace isotherm::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

slow_log::entry of_us(std::uint64_t us) {
  slow_log::entry made;
  made.us = us;
  return made;
}

TEST(SlowLog, KeepsTheNewestAndCountsOn) {
  slow_log log;
  for (std::uint64_t us = 1; us <= 5; ++us) log.add(of_us(us), 3);
  const auto all = log.newest(10);
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_EQ(all[0].us, 5u);
  EXPECT_EQ(all[0].id, 4u);
  EXPECT_EQ(all[2].us, 3u);
  EXPECT_THAT(log.newest(1), SizeIs(1));
  log.clear();
  EXPECT_EQ(log.size(), 0u);
  log.add(of_us(9), 3);
  EXPECT_EQ(log.newest(1)[0].id, 5u);
  log.add(of_us(9), 0);
  EXPECT_EQ(log.size(), 0u);
}

TEST(SlowLog, ShortensLongCalls) {
  const std::string longer(130, 'x');
  EXPECT_THAT(slow_log::shortened(std::vector<std::string_view>{"set", longer}),
              ElementsAre("set", std::string(128, 'x') + "... (2 more bytes)"));
  EXPECT_THAT(slow_log::shortened(std::vector<std::string_view>(32, "x")), SizeIs(32));
  const auto many = slow_log::shortened(std::vector<std::string_view>(100, "x"));
  EXPECT_THAT(many, SizeIs(32));
  EXPECT_EQ(many.back(), "... (69 more arguments)");
}

TEST(SlowLog, TellsNoPassword) {
  const store::command auth{"auth", -2, store::kNoAuth, {}, nullptr, "", "", ""};
  const store::command config{"set", -4, store::kAdmin, {}, nullptr, "", "", ""};
  const auto loggable = [](const store::command& called, std::vector<std::string_view> arguments) {
    return server::loggable(called, arguments);
  };
  EXPECT_THAT(loggable(auth, {"AUTH", "me", "secret"}),
              ElementsAre("AUTH", "(redacted)", "(redacted)"));
  EXPECT_THAT(loggable(config, {"CONFIG", "SET", "timeout", "5", "REQUIREPASS", "secret"}),
              ElementsAre("CONFIG", "SET", "timeout", "5", "REQUIREPASS", "(redacted)"));
}

TEST(LatencyEvents, KeepTheLongestOfEachSecond) {
  latency_events events;
  events.add("command", {.time_s = 7, .ms = 20});
  events.add("command", {.time_s = 7, .ms = 30});
  events.add("command", {.time_s = 7, .ms = 10});
  events.add("command", {.time_s = 9, .ms = 25});
  const auto history = events.history("command");
  ASSERT_THAT(history, SizeIs(2));
  EXPECT_EQ(history[0].ms, 30u);
  EXPECT_EQ(history[1].time_s, 9);
  const auto latest = events.latest();
  ASSERT_THAT(latest, SizeIs(1));
  EXPECT_EQ(latest[0].last.ms, 25u);
  EXPECT_EQ(latest[0].most_ms, 30u);
  EXPECT_THAT(events.history("fast-command"), IsEmpty());
  for (std::int64_t s = 10; s < 400; ++s) events.add("command", {.time_s = s, .ms = 1});
  EXPECT_THAT(events.history("command"), SizeIs(latency_events::kKept));
}

TEST(LatencyEvents, AreForgottenByNameOrAll) {
  latency_events events;
  for (const auto* name : {"a", "b", "c"}) events.add(name, {.time_s = 1, .ms = 1});
  EXPECT_EQ(events.reset("b"), 1u);
  EXPECT_EQ(events.reset("b"), 0u);
  EXPECT_EQ(events.reset(), 2u);
  EXPECT_THAT(events.latest(), IsEmpty());
}

TEST(CommandTimes, AddUpAndAreTakenOffAgain) {
  command_times one(3), other(3);
  EXPECT_FALSE(one.of(0).is_any());
  one.record(1, 1000);
  one.record(1, 3000);
  one.count_failed(1);
  other.record(1, 5000);
  other.count_rejected(1);
  command_counts sum = one.of(1);
  sum += other.of(1);
  EXPECT_EQ(sum.calls(), 3u);
  EXPECT_EQ(sum.times.sum(), 9000u);
  EXPECT_EQ(sum.failed, 1u);
  EXPECT_EQ(sum.rejected, 1u);
  sum -= one.of(1);
  EXPECT_EQ(sum.calls(), 1u);
  EXPECT_EQ(sum.times.sum(), 5000u);
  EXPECT_EQ(sum.failed, 0u);
  EXPECT_FALSE(one.of(0).is_any() || one.of(2).is_any());
}

TEST(CommandTable, NumbersCommandsAndSubcommands) {
  const store::command_table table({session_commands(), config_commands(), slow_commands()});
  const auto& all = table.callables();
  bool has_subcommand = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(table.number_of(*all[i].called), i) << all[i].name;
    has_subcommand |= all[i].name == "config|set";
  }
  EXPECT_TRUE(has_subcommand);
}

}  // namespace
}  // namespace isotherm::server
