// Short lines and klv records that are moved in sorted pieces, here pieces of a few records.
#include "sort/index_sort/regroup.hpp"
#include "os/faults.hpp"
#include "os/files/file.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <map>
#include <tuple>

#include "base/random.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/planned.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using isotherm::testing::contents;
using isotherm::testing::scratch;
using isotherm::testing::store;

struct pieces {
  std::size_t entries;
  std::size_t bytes;
};

plan small_plan(const sort_options& o, std::uint64_t input, pieces of) {
  plan p = planned(o, o.algorithm, input, nullptr).value();
  EXPECT_TRUE(consider_regrouping(p, o, 20));
  p.index_entries = of.entries;
  p.regroup_bytes = of.bytes;
  p.output_buffer_bytes = 4096;
  p.queue_entries = 50;
  p.merge_buffer_bytes = 1 << 20;  // eight runs a merge
  return p;
}

sort_options options_for(record_format format, unsigned field = 1) {
  sort_options o;
  o.format = format;
  o.keys = {{.first_field = field}};
  o.separator = ' ';
  o.memory_bytes = 32 << 20;
  o.durable = false;
  return o;
}

class Regroup : public ::testing::Test {
 protected:
  void TearDown() override { os::set_fault_hook({}); }
  outcome sort(const sort_options& o, pieces of, job& j) {
    auto in = source::open(dir_.file("in")).value();
    const plan p = small_plan(o, in.size(), of);
    const record_layout layout(o);
    auto out = os::file::unnamed(dir_.path()).value();
    const os::file_state before = in.handle().state().value();
    os::set_fault_hook(hook_);
    const outcome done = find(p.algorithm).run({j, p, in, layout}, out, dir_.path());
    os::set_fault_hook({});
    EXPECT_TRUE(before == in.handle().state().value());
    if (!j.status()) return done;
    sorted_.resize(done.bytes_written);
    EXPECT_TRUE(out.read({reinterpret_cast<std::byte*>(sorted_.data()), sorted_.size()}, 0));
    return done;
  }
  /// Sorts in pieces of several sizes, whose result is to be that of `expected`.
  void expect_sorted(const sort_options& o, const std::string& expected, const std::string& name) {
    for (const pieces of : {pieces{7, 100'000}, pieces{1000, 1}, pieces{1000, 700}}) {
      for (const auto c : {sort_concurrency::no_sync, sort_concurrency::io_overlap}) {
        sort_options with = o;
        with.concurrency = c;
        job j(with, nullptr);
        const outcome done = sort(with, of, j);
        ASSERT_TRUE(j.status()) << name << ": " << j.status().error().message;
        EXPECT_GT(done.runs.runs, 8u) << name;
        EXPECT_TRUE(sorted_ == expected)
            << name << ", pieces of " << of.entries << ", " << of.bytes;
      }
    }
  }
  scratch dir_;
  std::string sorted_;
  std::function<int(os::io_call)> hook_;
};

std::string make_lines(unsigned seed, bool final_newline) {
  base::random random(seed);
  std::string all;
  for (int i = 0; i < 400; ++i) {
    if (i > 0) all += '\n';
    if (random.below(3) == 0) all += "all/begin/with/the/same ";
    all += std::to_string(random.below(40));
    if (random.below(2) == 0) all += " " + std::to_string(random.below(5)) + " in a field";
    if (i % 150 == 70) all += std::string(9000, 'l');  // longer than any buffer
  }
  return final_newline ? all + "\n" : all;
}

TEST_F(Regroup, LinesComeOutAsTheSystemsSortHasThem) {
  for (const unsigned seed : {1u, 2u}) {
    store(dir_.file("in"), make_lines(seed, seed != 2));
    for (const auto& [flags, field, reverse, stable, unique] :
         {std::tuple{"", 1u, false, false, false}, std::tuple{"-r", 1u, true, false, false},
          std::tuple{"-t ' ' -k 2", 2u, false, false, false},
          std::tuple{"-t ' ' -k 2 -s", 2u, false, true, false},
          std::tuple{"-t ' ' -k 2 -r -s", 2u, true, true, false},
          std::tuple{"-u", 1u, false, false, true},
          std::tuple{"-t ' ' -k 2 -r -u", 2u, true, false, true}}) {
      sort_options o = options_for(record_format::lines, field);
      o.reverse = o.keys.front().reverse = reverse;
      o.stable = stable;
      o.unique = unique;
      const std::string command = std::string("LC_ALL=C sort ") + flags + " -o " +
                                  dir_.file("expected") + " " + dir_.file("in");
      ASSERT_EQ(std::system(command.c_str()), 0);
      expect_sorted(o, contents(dir_.file("expected")),
                    "seed " + std::to_string(seed) + " flags " + flags);
    }
  }
}

TEST_F(Regroup, KlvRecordsWithEqualKeysKeepTheirOrder) {
  base::random random(5);
  std::multimap<std::string, std::string> records;  // keeps the order of equal keys
  std::string all;
  for (int i = 0; i < 400; ++i) {
    const std::string key = "the same " + std::to_string(10 + random.below(60));
    const std::string text = std::to_string(i) + std::string(i % 150 == 70 ? 9000 : 0, 'v');
    const auto bytes = static_cast<std::uint32_t>(text.size());
    const std::string record =
        key + std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + text;
    records.emplace(key, record);
    all += record;
  }
  store(dir_.file("in"), all);
  std::string expected;
  for (const auto& r : records) expected += r.second;
  sort_options o = options_for(record_format::klv);
  o.key_bytes = 11;
  expect_sorted(o, expected, "klv");
}

TEST_F(Regroup, OnePieceIsNotMoved) {
  store(dir_.file("in"), "b\na\nc");
  const sort_options o = options_for(record_format::lines);
  job j(o, nullptr);
  const outcome done = sort(o, {100, 100}, j);
  ASSERT_TRUE(j.status());
  EXPECT_EQ(done.runs.runs, 0u);
  EXPECT_EQ(sorted_, "a\nb\nc\n");
}

TEST_F(Regroup, EveryCallThatFailsEndsTheSort) {
  store(dir_.file("in"), make_lines(4, true));
  sort_options o = options_for(record_format::lines, 2);
  o.read_threads = o.write_threads = o.sort_threads = 1;
  bool done = false;
  int nth = 1;
  for (; !done && !HasFailure(); ++nth) {
    std::atomic<int> calls{0};
    hook_ = [&](os::io_call) { return ++calls == nth ? EIO : 0; };
    job j(o, nullptr);
    sort(o, {40, 1500}, j);
    done = calls < nth;
    EXPECT_EQ(j.status().has_value(), done) << "call " << nth;
    if (!done && !j.status()) EXPECT_EQ(j.status().error().code, EIO);
    EXPECT_EQ(dir_.entries(), 1u) << "call " << nth;
  }
  EXPECT_GT(nth, 50);
}

// Wherever it would not pay, or the records are not all wanted, they stay where they are.
TEST(ConsiderRegrouping, TakesShortRecordsThatAreReadByCalls) {
  constexpr std::uint64_t kInput = 1 << 30;
  sort_options o = options_for(record_format::lines);
  const auto moves = [&](std::uint64_t record, std::uint64_t input = kInput) {
    plan p = planned(o, o.algorithm, input, nullptr).value();
    const std::uint64_t room = p.merge_buffer_bytes;
    const bool taken = consider_regrouping(p, o, record);
    EXPECT_EQ(taken, p.regroup_bytes != 0);
    EXPECT_LE(p.regroup_bytes + p.index_entries * sizeof(entry), room);
    return taken;
  };
  EXPECT_TRUE(moves(1));
  EXPECT_TRUE(moves(256));
  EXPECT_FALSE(moves(257));
  o.top = 5;
  EXPECT_TRUE(moves(40));
  o.top = 0;
  o.unique = true;
  EXPECT_TRUE(moves(40));
  o.unique = false;
  o.count = true;
  EXPECT_TRUE(moves(40));
  o.count = false;
  o.device = "emu:pmem";
  EXPECT_FALSE(moves(40));
  o.device = "";
  o.algorithm = sort_algorithm::mergepass;
  EXPECT_FALSE(moves(40));
  o.algorithm = sort_algorithm::automatic;
  o.memory_bytes = 512 << 20;
  EXPECT_TRUE(moves(40));
  EXPECT_FALSE(moves(40, 1 << 20));  // mapped
  o.format = record_format::fixed;
  EXPECT_FALSE(moves(40));
}

}  // namespace
}  // namespace isotherm::sort
