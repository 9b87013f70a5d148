// Runs in several directories, each with a device of its own: which takes what, what happens where
// one is full, and what the plan says of it.
#include "sort/runs/run_places.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/random.hpp"
#include "os/faults.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using enum sort_algorithm;

constexpr std::uint64_t kMiB = 1 << 20;

class Places : public ::testing::Test {
 protected:
  Places() {
    for (const char* name : {"a", "b", "c"}) std::filesystem::create_directory(dir_.file(name));
  }
  ~Places() override { os::set_fault_hook({}); }
  sort_directory at(const std::string& name, const std::string& device = "") const {
    return {dir_.file(name), device};
  }
  std::vector<std::string> order_of(const sort_options& o) const {
    std::vector<std::string> names;
    const auto all = devices::open(o, dir_.path());
    EXPECT_TRUE(all) << all.error().message;
    for (const run_directory& d : all->directories()) {
      names.push_back(std::filesystem::path(d.path).filename());
    }
    return names;
  }
  std::string refusal(const sort_options& o) const {
    const auto all = devices::open(o, dir_.path());
    return all ? "none" : all.error().message;
  }
  /// From the `nth` on, no room is set aside: the first directory is full.
  static void fill_after(int nth) {
    const auto calls = std::make_shared<std::atomic<int>>(0);
    os::set_fault_hook([nth, calls](os::io_call c) {
      return c == os::io_call::resize && ++*calls > nth ? ENOSPC : 0;
    });
  }
  testing::scratch dir_;
};

TEST_F(Places, TheFastestComesFirstAndTheUnknownLast) {
  const auto order = [&](std::vector<sort_directory> all) {
    return order_of({.temporary_directories = std::move(all)});
  };
  EXPECT_THAT(order({at("a", "emu:cmm-h"), at("b", "emu:pmem"), at("c")}),
              ElementsAre("b", "a", "c"));
  EXPECT_THAT(order({at("c"), at("b", "emu:pmem@1/8"), at("a", "emu:pmem")}),
              ElementsAre("a", "b", "c"));
  // One without a device of its own is on that of input and output.
  EXPECT_THAT(
      order_of({.temporary_directories = {at("a"), at("b", "emu:pmem@1/8")}, .device = "emu:pmem"}),
      ElementsAre("a", "b"));
}

TEST_F(Places, DirectoriesAndDevicesThatAreWrongAreRefused) {
  const auto refused = [&](std::vector<sort_directory> all) {
    return refusal({.temporary_directories = std::move(all)});
  };
  EXPECT_EQ(refused({at("a"), at("a")}), "none");
  EXPECT_THAT(refused({at("a"), at("a", "emu:pmem")}), HasSubstr("are one directory"));
  EXPECT_THAT(refused({at("a", "emu:none")}), HasSubstr("--tmp: no emulated device"));
  EXPECT_THAT(refused({at("a", dir_.file("none.json"))}), HasSubstr("device profile"));
  EXPECT_THAT(refused({at("a"), at("none")}), HasSubstr("--tmp: "));
}

TEST_F(Places, ARunGoesToTheNextDirectoryWhereOneIsFull) {
  testing::store(dir_.file("in"), "x");
  auto in = source::open(dir_.file("in"));
  job j(sort_options{}, nullptr);
  plan p;
  p.runs = {{.path = dir_.file("a")}, {.path = dir_.file("b")}};
  const record_layout layout{sort_options{}};
  run_places places({j, p, *in, layout});
  run_place* const first = places.take(1000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->at.path, dir_.file("a"));
  EXPECT_EQ(places.take(1000), first);
  for (const int full : {ENOSPC, EDQUOT, EFBIG}) {
    os::set_fault_hook([&](os::io_call c) { return c == os::io_call::resize ? full : 0; });
    EXPECT_EQ(places.take(1000)->at.path, dir_.file("b"));
  }
  os::set_fault_hook([](os::io_call c) { return c == os::io_call::resize ? EIO : 0; });
  EXPECT_EQ(places.take(1000), nullptr);
  EXPECT_EQ(j.status().error().code, EIO);
}

// Every kind of run: entries, whole records, parts and framed records.
TEST_F(Places, RunsInTwoDirectoriesMakeTheSameOutput) {
  using record = std::array<char, 16>;
  std::vector<record> all(1'500'000);  // too many for 32 MiB, whatever the runs hold
  base::random random(50);
  for (record& each : all) {
    const std::uint64_t words[2] = {random(), random()};
    std::memcpy(each.data(), words, sizeof words);
  }
  const auto bytes_of_all = [&] {
    return std::string(reinterpret_cast<const char*>(all.data()), all.size() * sizeof(record));
  };
  testing::store(dir_.file("in"), bytes_of_all());
  std::ranges::sort(all, [](const record& a, const record& b) {
    return std::memcmp(a.data(), b.data(), 10) < 0;  // no two keys are equal
  });
  const std::string expected = bytes_of_all();
  for (const sort_options& o :
       {sort_options{.algorithm = mergepass}, sort_options{.algorithm = ems}, sort_options{},
        sort_options{.unique = true}, sort_options{.compression = sort_compression::on},
        sort_options{.device = "emu:pmem", .algorithm = ems},
        sort_options{.device = "emu:pmem", .algorithm = mergepass}}) {
    sort_options one = o;
    one.record_bytes = sizeof(record);
    one.memory_bytes = 32 * kMiB;
    for (const bool emulated : {false, true}) {
      one.temporary_directories = {at("a", emulated ? "emu:pmem" : ""),
                                   at("b", emulated ? "emu:cmm-h" : "")};
      fill_after(1);
      const auto done = sort_file(dir_.file("in"), dir_.file("out"), one);
      os::set_fault_hook({});
      ASSERT_TRUE(done) << name(o.algorithm) << ": " << done.error().message << " (seed 50)";
      EXPECT_EQ(done->is_emulated(), emulated || o.emulates());
      EXPECT_TRUE(testing::contents(dir_.file("out")) == expected) << "seed 50";
      ASSERT_EQ(done->places.size(), 2u) << name(o.algorithm) << ' ' << done->algorithm;
      EXPECT_GT(done->places[0].bytes, 0u);
      EXPECT_EQ(done->places[0].seconds > 0, emulated || o.emulates());
      EXPECT_TRUE(std::filesystem::is_empty(dir_.file("a")));
      EXPECT_TRUE(std::filesystem::is_empty(dir_.file("b")));
    }
  }
}

/// The devices' time alone: the processor is infinitely fast.
prediction predicted(sort_algorithm a, const device::model& main, const run_directory& runs) {
  const sort_options o{.memory_bytes = 64 * kMiB, .compression = sort_compression::off};
  facts known = facts_of({.bytes = 100'000'000, .record_bytes = 100}, &main);
  known.directories = {&runs, 1};
  const auto p = make_plan(o, a, known);
  EXPECT_TRUE(p) << p.error().message;
  EXPECT_EQ(p->runs_apart, runs.apart);
  return find(a).predict(*p, o, known);
}

TEST(PlacesOfRuns, OnADeviceOfTheirOwnTheyAreReadBesideTheRest) {
  const auto main = device::preset("emu:pmem").value();
  const auto slow = device::preset("emu:pmem@1/100").value();
  const run_directory alone{.path = "a", .numbers = &main};
  const run_directory same{.path = "a", .numbers = &main, .apart = true};
  const run_directory other{.path = "a", .numbers = &slow, .apart = true};
  EXPECT_LT(predicted(ems, main, same).seconds, predicted(ems, main, alone).seconds);
  for (const sort_algorithm a : {mergepass, ems}) {
    EXPECT_GT(predicted(a, main, other).seconds, predicted(a, main, alone).seconds) << name(a);
    const auto places = predicted(a, main, other).places;
    ASSERT_EQ(places.size(), 1u);
    EXPECT_EQ(places[0].device, "emu:pmem@1/100");
    EXPECT_GT(places[0].seconds, 0);
  }
}

// The prediction fills the first directory, as the sort does.
TEST_F(Places, ARunThatDoesNotFitIsPricedWhereItGoes) {
  const auto fast = device::preset("emu:pmem").value();
  const auto slow = device::preset("emu:cmm-h").value();
  plan p;
  p.runs = {{.path = "a", .numbers = &fast, .free_bytes = 1000, .apart = true},
            {.path = "b", .numbers = &slow, .free_bytes = 1'000'000, .apart = true}};
  const runs_cost some = cost_of_runs(p, nullptr, 800);
  const runs_cost more = cost_of_runs(p, nullptr, 1800);
  ASSERT_EQ(some.places.size(), 1u);
  ASSERT_EQ(more.places.size(), 2u);
  EXPECT_EQ(more.places[0].bytes, 1000u);
  EXPECT_EQ(more.places[1].bytes, 800u);
  EXPECT_GT(more.seconds.write, 2 * some.seconds.write);
}

TEST_F(Places, ADeviceThatIsNotEmulatedIsExplainedByItsRuns) {
  testing::store(dir_.file("in"), std::string(64 * kMiB, 'x'));
  const auto told = explain_sort(dir_.file("in"), {.record_bytes = 64,
                                                   .memory_bytes = 32 * kMiB,
                                                   .temporary_directories = {at("a", "emu:pmem")}});
  ASSERT_TRUE(told) << told.error().message;
  ASSERT_EQ(told->size(), 1u);
  EXPECT_EQ(told->front().seconds, 0);
  ASSERT_EQ(told->front().places.size(), 1u);
  EXPECT_GE(told->front().places[0].bytes, 64 * kMiB);
}

}  // namespace
}  // namespace isotherm::sort
