// Each I/O call of a sort is made to fail once: the sort must say so, leave nothing, and not touch
// an output that was there. An interrupt in each stage is tried, too.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <ostream>

#include "base/random.hpp"
#include "lab/records/gensort.hpp"
#include "os/faults.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using os::io_call;
using testing::contents;
using testing::scratch;

constexpr std::uint64_t kMapped = 128 << 20;  // enough for the test's inputs to be mapped
constexpr std::uint64_t kRead = 32 << 20;     // too little for that: they are read by calls

struct scenario {
  std::string name;
  sort_options options;
  std::size_t records = 0;
  bool reversed = false;
};
void PrintTo(const scenario& s, std::ostream* out) { *out << s.name; }

/// ISOTHERM_FAULT_STEP: one call in so many fails, beginning with one that differs from test to
/// test and from run to run; each call does if it is unset.
int fault_step() {
  const char* const given = std::getenv("ISOTHERM_FAULT_STEP");
  return given ? static_cast<int>(std::strtol(given, nullptr, 10)) : 1;
}

/// The first call that fails, from 0. ISOTHERM_TEST_SEED repeats a run.
int first_fault() {
  static base::random random([] {
    const char* const given = std::getenv("ISOTHERM_TEST_SEED");
    const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
    const std::uint64_t seed =
        given ? std::strtoull(given, nullptr, 10)
              : base::mix64(static_cast<std::uint64_t>(now) ^ static_cast<std::uint64_t>(getpid()));
    std::cout << "seed: ISOTHERM_TEST_SEED=" << seed << std::endl;
    return seed;
  }());
  return static_cast<int>(random.below(static_cast<std::uint64_t>(fault_step())));
}

/// Keys at random, or each below the one before it.
std::string make_input(const sort_options& o, std::size_t records, bool reversed) {
  base::random random(3);
  std::string all;
  for (std::size_t i = 0; i < records; ++i) {
    if (o.format == record_format::fixed) {
      for (std::uint64_t b = 0; b < o.record_bytes; ++b) all += static_cast<char>(random.below(4));
    } else if (o.format == record_format::klv) {
      all += std::to_string(1000000000 + (reversed ? records - i : random.below(5000)));
      const auto value = static_cast<std::uint32_t>(random.below(40));
      all.append(reinterpret_cast<const char*>(&value), 4).append(value, 'v');
    } else {
      all += "common prefix\t" + std::to_string(reversed ? 900 - i : random.below(200)) + "\n";
    }
  }
  return all;
}

std::vector<scenario> scenarios() {
  std::vector<scenario> all;
  const auto add = [&](std::string name, sort_options o, std::size_t records,
                       std::uint64_t memory) {
    o.memory_bytes = memory;
    o.read_threads = o.write_threads = o.sort_threads = 1;
    all.push_back({std::move(name), std::move(o), records});
  };
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
    const std::string pass = a == sort_algorithm::onepass ? "onepass" : "mergepass";
    for (const auto memory : {kMapped, kRead}) {
      const std::string suffix = memory == kRead ? "_read" : "";
      add(pass + suffix, {.algorithm = a}, 300, memory);
      add(pass + "_check" + suffix, {.algorithm = a, .check = true}, 100, memory);
      add(pass + "_klv" + suffix, {.format = record_format::klv, .algorithm = a}, 300, memory);
      add(pass + "_lines" + suffix, {.format = record_format::lines, .algorithm = a}, 60, memory);
      add(pass + "_field" + suffix,
          {.format = record_format::lines, .keys = {{.first_field = 2}}, .algorithm = a}, 60,
          memory);
    }
    add(pass + "_count", {.key_bytes = 3, .count = true, .algorithm = a}, 300, kRead);
    add(pass + "_count_lines", {.format = record_format::lines, .count = true, .algorithm = a}, 60,
        kRead);
    add(pass + "_unique", {.key_bytes = 3, .unique = true, .algorithm = a}, 300, kRead);
    add(pass + "_top", {.top = 9, .algorithm = a}, 300, kRead);
    if (a == sort_algorithm::mergepass) {
      add("mergepass_compressed", {.algorithm = a, .compression = sort_compression::on}, 300,
          kRead);
    }
    add(pass + "_no_sync", {.algorithm = a, .concurrency = sort_concurrency::no_sync}, 300, kRead);
    add(pass + "_io_overlap", {.algorithm = a, .concurrency = sort_concurrency::io_overlap}, 300,
        kRead);
  }
  add("selection", {.top = 9}, 300, kRead);
  add("selection_klv", {.format = record_format::klv, .unique = true, .top = 9}, 300, kRead);
  add("selection_lines", {.format = record_format::lines, .top = 9, .count = true}, 300, kRead);
  for (const bool reverse : {false, true}) {
    const std::string order = reverse ? "presorted" : "reversed";
    add(order + "_klv", {.format = record_format::klv, .reverse = reverse}, 300, kRead);
    all.back().reversed = true;
    add(order + "_lines", {.format = record_format::lines, .reverse = reverse}, 300, kRead);
    all.back().reversed = true;
  }
  for (const auto a : {sort_algorithm::ems, sort_algorithm::samplesort, sort_algorithm::pmsort,
                       sort_algorithm::modified_key}) {
    add(std::string(name(a)), {.algorithm = a, .check = true}, 300,
        a == sort_algorithm::samplesort ? kMapped : kRead);
  }
  for (auto& s : all) std::replace(s.name.begin(), s.name.end(), '-', '_');
  return all;
}

class Faults : public ::testing::TestWithParam<scenario> {
 protected:
  void SetUp() override {
    testing::store(dir_.file("in"),
                   make_input(GetParam().options, GetParam().records, GetParam().reversed));
    testing::store(dir_.file("out"), "precious");
  }
  base::result<sort_report> sort() {
    return sort_file(dir_.file("in"), dir_.file("out"), GetParam().options);
  }
  /// One sort whose `nth` call fails with `code`; returns whether the sort ended well.
  bool fails_cleanly(int nth, int code) {
    std::atomic<int> calls{0};
    os::set_fault_hook([&](io_call) { return ++calls == nth ? code : 0; });
    auto r = sort();
    os::set_fault_hook({});
    if (r) {
      EXPECT_LT(calls, nth) << "call " << nth << " failed and nobody noticed";
      return true;
    }
    EXPECT_EQ(r.error().code, code) << r.error().message;
    EXPECT_EQ(r.error().message.find('\n'), std::string::npos);
    // The last call of all waits for the name that the output has by then.
    const bool complete = r.error().message.find("is complete") != std::string::npos;
    EXPECT_EQ(contents(dir_.file("out")) != "precious", complete) << "call " << nth;
    if (complete) testing::store(dir_.file("out"), "precious");
    EXPECT_EQ(dir_.entries(), 2u) << "call " << nth;
    return false;
  }
  scratch dir_;
};

TEST_P(Faults, EveryCallThatFailsEndsTheSortCleanly) {
  for (const int code : {EIO, ENOSPC}) {
    testing::store(dir_.file("out"), "precious");
    int nth = 1 + first_fault();
    while (!fails_cleanly(nth, code) && !HasFailure()) nth += fault_step();
    EXPECT_GT(nth, 10);
    EXPECT_NE(contents(dir_.file("out")), "precious");
  }
}

// The stage is told to the progress function when it begins: the interrupt is there from then on.
TEST_P(Faults, InterruptInEveryStageEndsTheSortCleanly) {
  unsigned interrupted = 0;
  for (unsigned stage = 0; stage < kSortStages; ++stage) {
    std::stop_source stop;
    bool seen = false;
    sort_options o = GetParam().options;
    o.stop = stop.get_token();
    o.progress = [&](sort_stage s, std::uint64_t, std::uint64_t) {
      if (static_cast<unsigned>(s) != stage) return;
      seen = true;
      stop.request_stop();
    };
    testing::store(dir_.file("out"), "precious");
    auto r = sort_file(dir_.file("in"), dir_.file("out"), o);
    EXPECT_EQ(r.has_value(), !seen) << name(static_cast<sort_stage>(stage));
    if (!r) {
      EXPECT_EQ(r.error().code, EINTR);
      EXPECT_EQ(contents(dir_.file("out")), "precious");
      ++interrupted;
    }
    EXPECT_EQ(dir_.entries(), 2u);
  }
  EXPECT_GE(interrupted, 2u);
}

INSTANTIATE_TEST_SUITE_P(All, Faults, ::testing::ValuesIn(scenarios()),
                         [](const auto& p) { return p.param.name; });

/// Sorts of several runs make too many calls for each to fail: the first and the last of each
/// unbroken row of calls of one kind do, and some between them.
class FaultsOfRuns : public Faults {};

TEST_P(FaultsOfRuns, FailuresAtTheBoundsOfStagesEndTheSortCleanly) {
  std::vector<io_call> kinds;
  std::mutex lock;
  os::set_fault_hook([&](io_call c) {
    const std::lock_guard guard(lock);
    kinds.push_back(c);
    return 0;
  });
  auto clean = sort();
  os::set_fault_hook({});
  ASSERT_TRUE(clean) << clean.error().message;
  ASSERT_GE(clean->runs, 3u);
  testing::store(dir_.file("out"), "precious");
  std::vector<int> chosen;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool bound =
        i == 0 || i + 1 == kinds.size() || kinds[i] != kinds[i - 1] || kinds[i] != kinds[i + 1];
    if (bound || i % 50 == 0) chosen.push_back(static_cast<int>(i + 1));
  }
  ASSERT_GE(chosen.size(), 10u);
  for (std::size_t i = static_cast<std::size_t>(first_fault()); i < chosen.size();
       i += static_cast<std::size_t>(fault_step())) {
    EXPECT_FALSE(fails_cleanly(chosen[i], EIO)) << chosen[i] << " of " << kinds.size();
    if (HasFailure()) return;
  }
}

std::vector<scenario> many_runs() {
  const sort_options small{.record_bytes = 8,
                           .key_bytes = 8,
                           .memory_bytes = kRead,
                           .read_threads = 1,
                           .write_threads = 1,
                           .sort_threads = 26};  // whose memory halves the room for runs
  scenario merge{"mergepass", small, 1'100'000};
  merge.options.top = 50;
  merge.options.algorithm = sort_algorithm::mergepass;
  merge.options.compression = sort_compression::off;  // not by what was measured: calls must repeat
  scenario ems{"ems", small, 1'100'000};
  ems.options.algorithm = sort_algorithm::ems;
  scenario compressed = merge;
  compressed.name = "mergepass_compressed";
  compressed.options.compression = sort_compression::on;
  scenario integers{"integers", small, 3'300'000};
  return {merge, compressed, ems, integers};
}

INSTANTIATE_TEST_SUITE_P(All, FaultsOfRuns, ::testing::ValuesIn(many_runs()),
                         [](const auto& p) { return p.param.name; });

/// Whatever the algorithm and the model, the leading thread alone does the work of all.
TEST(ThreadFaults, SortsThatGetNoThreadsEndWell) {
  const scratch dir;
  ASSERT_TRUE(lab::gensort_file(dir.file("in"), {.count = 20000, .threads = 2}));
  ASSERT_TRUE(sort_file(dir.file("in"), dir.file("expected"), {.memory_bytes = kMapped}));
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass, sort_algorithm::ems,
                       sort_algorithm::samplesort, sort_algorithm::pmsort_plus}) {
    for (const auto c : {sort_concurrency::no_sync, sort_concurrency::io_overlap,
                         sort_concurrency::no_io_overlap}) {
      sort_options o{.memory_bytes = kMapped, .algorithm = a, .concurrency = c};
      o.read_threads = o.write_threads = o.sort_threads = 4;
      o.check = true;
      os::set_thread_fault(EAGAIN);
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      os::set_thread_fault(0);
      ASSERT_TRUE(r) << r.error().message << ' ' << name(a) << ' ' << name(c);
      EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected"))) << name(a);
    }
  }
}

// The first partition moves every record once; it is not waited for.
TEST(Interrupts, SamplesortLooksAmidItsFirstPartition) {
  constexpr std::uint64_t kRecords = 300'000;
  const scratch dir;
  ASSERT_TRUE(lab::gensort_file(dir.file("in"), {.count = kRecords, .threads = 2}));
  for (const unsigned threads : {1u, 4u}) {
    std::stop_source stop;
    std::uint64_t most = 0;
    sort_options o{.memory_bytes = kMapped, .algorithm = sort_algorithm::samplesort};
    o.read_threads = o.write_threads = o.sort_threads = threads;
    o.stop = stop.get_token();
    o.progress = [&](sort_stage s, std::uint64_t done, std::uint64_t) {
      if (s != sort_stage::run_sort || done == 0) return;
      most = std::max(most, done);
      stop.request_stop();
    };
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_FALSE(r);
    EXPECT_EQ(r.error().code, EINTR);
    EXPECT_EQ(dir.entries(), 1u);
    EXPECT_GT(most, 0u);
    EXPECT_LT(most, kRecords * 100 / 4) << threads;
  }
}

TEST(GensortFaults, EveryCallThatFailsLeavesNothing) {
  const scratch dir;
  for (int nth = 1;; ++nth) {
    testing::store(dir.file("f"), "precious");
    std::atomic<int> calls{0};
    os::set_fault_hook([&](io_call) { return ++calls == nth ? ENOSPC : 0; });
    auto r = lab::gensort_file(dir.file("f"), {.count = 20000, .threads = 2});
    os::set_fault_hook({});
    EXPECT_EQ(dir.entries(), 1u);
    if (r) {
      EXPECT_LT(calls, nth);
      break;
    }
    EXPECT_EQ(contents(dir.file("f")), "precious") << nth;
  }
}

}  // namespace
}  // namespace isotherm
