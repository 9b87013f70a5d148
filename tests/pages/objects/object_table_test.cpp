// Live objects from a log of allocations.
#include "pages/objects/object_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace isotherm::pages {
namespace {

allocation_event made(std::uint64_t address, std::uint64_t asked, std::uint64_t time = 0,
                      std::uint64_t caller = 1) {
  return {.is_made = 1,
          .frame_count = 2,
          .address = address,
          .asked = asked,
          .usable = asked,
          .time_ns = time,
          .frames = {caller, 7}};
}

allocation_event freed(std::uint64_t address) {
  allocation_event event{};
  event.address = address;
  return event;
}

std::vector<std::uint64_t> addresses(const object_table& table) {
  std::vector<std::uint64_t> all;
  for (const object& each : table.ascending()) all.push_back(each.address);
  return all;
}

TEST(ObjectTable, HoldsThoseThatLive) {
  object_table table;
  table.apply(made(300, 8));
  table.apply(made(100, 8));
  table.apply(made(200, 8));
  table.apply(freed(300));
  table.apply(freed(999));  // told twice, or made before
  EXPECT_EQ(addresses(table), (std::vector<std::uint64_t>{100, 200}));
}

TEST(ObjectTable, TheOuterOfTwoCallsCounts) {
  object_table table;
  table.apply(made(100, 24, 5, 1));  // by malloc within operator new
  table.apply(made(100, 20, 6, 2));
  const auto live = table.ascending();
  ASSERT_EQ(live.size(), 1U);
  EXPECT_EQ(live[0].asked, 20U);
  EXPECT_EQ(table.sites()[live[0].site].frames, (std::vector<std::uint64_t>{2, 7}));
}

TEST(ObjectTable, OneCallStackIsOneSite) {
  object_table table;
  for (std::uint64_t i = 0; i < 100; ++i) table.apply(made(i * 16, 16, 0, i % 3));
  EXPECT_EQ(table.sites().size(), 3U);
}

TEST(ObjectTable, TheNewerOfTwoThatOverlapIsLeft) {
  object_table table;
  table.apply(made(100, 50, 1));  // freed unseen
  table.apply(made(120, 8, 2));
  table.apply(made(200, 8, 3));
  table.apply(made(190, 16, 2));  // freed unseen, before the one at 200
  EXPECT_EQ(addresses(table), (std::vector<std::uint64_t>{120, 200}));
}

/// More events than the log has room for, from another thread.
TEST(ObjectTable, TakesWhatAnotherThreadAppends) {
  const std::uint64_t seed = 20261201;
  SCOPED_TRACE(seed);
  const auto log = std::make_unique<allocation_log>();
  constexpr std::uint64_t kEvents = 3 * allocation_log::kEvents + 17;
  std::map<std::uint64_t, std::uint64_t> expected;
  std::thread program([&] {
    base::random random(seed);
    for (std::uint64_t i = 0; i < kEvents; ++i) {
      const std::uint64_t address = 1000 * random.below(500);
      const bool is_made = random.below(2) == 0;
      if (is_made) {
        expected[address] = i % 900;
      } else {
        expected.erase(address);
      }
      while (is_full(*log)) std::this_thread::yield();
      append(*log, is_made ? made(address, i % 900) : freed(address));
    }
  });
  object_table table;
  while (log->read.value.load_relaxed() < kEvents) table.take(*log);
  program.join();
  std::map<std::uint64_t, std::uint64_t> live;
  for (const object& each : table.ascending()) live[each.address] = each.asked;
  EXPECT_EQ(live, expected);
}

}  // namespace
}  // namespace isotherm::pages
