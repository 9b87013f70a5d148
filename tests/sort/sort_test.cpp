// Every algorithm against a stable sort of the standard library, on the sizes and keys that break
// sorts.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "base/atomic.hpp"
#include "base/random.hpp"
#include "os/faults.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;
/// Threads of a sort that take 8 MiB of the least memory limit for themselves: half of what else is
/// left, so that an input is soon beyond it.
constexpr unsigned kManyThreads = 26;

enum class shape { random, equal, sorted, reversed, skewed, long_prefix };

std::string make_records(shape s, std::size_t n, std::size_t record, std::size_t key_offset,
                         std::size_t key, base::random& random) {
  std::string all(n * record, '\0');
  for (std::size_t i = 0; i < n; ++i) {
    char* r = &all[i * record];
    for (std::size_t b = 0; b < record; b += sizeof(std::uint64_t)) {
      const std::uint64_t some = random();
      std::memcpy(r + b, &some, std::min(sizeof some, record - b));
    }
    std::uint64_t value = 0;
    if (s == shape::sorted) value = i;
    if (s == shape::reversed) value = n - i;
    if (s == shape::skewed) value = random.below(1 + random.below(20));
    if (s == shape::random) continue;
    std::memset(r + key_offset, s == shape::long_prefix ? 'x' : 0, key);
    if (s == shape::long_prefix) value = random.below(50);
    for (std::size_t b = 0; b < std::min<std::size_t>(8, key); ++b) {
      r[key_offset + key - 1 - b] = static_cast<char>(value >> (8 * b));
    }
  }
  return all;
}

std::string sorted_copy(const std::string& all, const sort_options& o) {
  std::vector<const char*> records;
  for (std::size_t at = 0; at < all.size(); at += o.record_bytes) records.push_back(&all[at]);
  std::sort(records.begin(), records.end(), [&](const char* a, const char* b) {
    const int c = std::memcmp(a + o.key_offset, b + o.key_offset, o.key_bytes);
    if (c == 0) return a < b;  // in input order: stable
    return o.reverse ? c > 0 : c < 0;
  });
  std::string out;
  const char* last = nullptr;
  for (const char* r : records) {
    if (o.unique && last != nullptr &&
        std::memcmp(last + o.key_offset, r + o.key_offset, o.key_bytes) == 0)
      continue;
    out.append(r, o.record_bytes);
    last = r;
  }
  return out;
}

class FixedRecords : public ::testing::TestWithParam<sort_algorithm> {};

TEST_P(FixedRecords, AllShapesAndSizesComeOutAsStableSortHasThem) {
  const scratch dir;
  base::random random(42);
  for (const auto s : {shape::random, shape::equal, shape::sorted, shape::reversed, shape::skewed,
                       shape::long_prefix}) {
    for (const std::size_t n : {0, 1, 2, 3, 1000, 20000}) {
      for (const bool reverse : {false, true}) {
        unsigned layout = static_cast<unsigned>(s) + (reverse ? 1 : 0);
        for (const auto& [record, offset, key] :
             {std::tuple{100, 0, 10}, std::tuple{16, 4, 3}, std::tuple{40, 2, 30}}) {
          if (n == 20000 && layout++ % 3 != 0) continue;  // of the most records, each by turns
          sort_options o{.record_bytes = static_cast<std::uint64_t>(record),
                         .key_bytes = static_cast<std::uint64_t>(key),
                         .key_offset = static_cast<std::uint64_t>(offset),
                         .reverse = reverse,
                         .memory_bytes = 64 * kMiB,
                         .algorithm = GetParam(),
                         .durable = false,  // many sorts: no wait for the disk
                         .check = n <= 1000 || GetParam() == sort_algorithm::samplesort};
          const std::string all =
              make_records(s, n, o.record_bytes, o.key_offset, o.key_bytes, random);
          store(dir.file("in"), all);
          auto r = sort_file(dir.file("in"), dir.file("out"), o);
          ASSERT_TRUE(r) << r.error().message;
          const std::string out = contents(dir.file("out"));
          if (GetParam() == sort_algorithm::samplesort) {
            EXPECT_EQ(out.size(), all.size());  // not stable; --check has compared the contents
          } else {
            EXPECT_TRUE(out == sorted_copy(all, o))
                << "seed 42, shape " << static_cast<int>(s) << ", n " << n << ", key " << key;
          }
        }
      }
    }
  }
  EXPECT_EQ(dir.entries(), 2u);
}

// Runs of equal keys meet in the merge, or the scans.
TEST_P(FixedRecords, EqualKeysKeepTheirOrderBeyondTheMemory) {
  if (GetParam() == sort_algorithm::samplesort) return;  // promises no order
  const scratch dir;
  base::random random(47);
  const sort_options o{
      .key_bytes = 1, .memory_bytes = 32 * kMiB, .algorithm = GetParam(), .durable = false};
  const std::string all = make_records(shape::random, 400'000, 100, 0, 1, random);
  store(dir.file("in"), all);
  const auto sorted = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(sorted) << sorted.error().message;
  EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o)) << "seed 47";
}

INSTANTIATE_TEST_SUITE_P(All, FixedRecords, ::testing::ValuesIn(sort_algorithms()),
                         [](const auto& p) {
                           std::string n(name(p.param));
                           for (char& c : n) c = c == '-' ? '_' : c == '+' ? 'P' : c;
                           return n;
                         });

// Values that come by scans make OnePass the modified-key sort; whole records move with their keys.
TEST(SortFile, TheReportSaysWhatRan) {
  const scratch dir;
  base::random random(45);
  store(dir.file("in"), make_records(shape::random, 250'000, 100, 0, 10, random));
  const auto run = [&](sort_algorithm a, std::uint64_t memory) {
    auto r = sort_file(dir.file("in"), dir.file("out"),
                       {.memory_bytes = memory, .algorithm = a, .durable = false});
    EXPECT_TRUE(r) << r.error().message;
    return r.value_or(sort_report{});
  };
  for (const auto a : {sort_algorithm::automatic, sort_algorithm::onepass}) {
    EXPECT_EQ(run(a, 256 * kMiB).algorithm, "onepass");
    EXPECT_EQ(run(a, 256 * kMiB).values, "by random reads");
    EXPECT_EQ(run(a, 34 * kMiB).algorithm, "modified-key");
    EXPECT_EQ(run(a, 34 * kMiB).values, "by scans");
  }
  EXPECT_EQ(run(sort_algorithm::mergepass, 256 * kMiB).values, "by random reads");
  for (const auto& [o, values] : {std::pair(sort_options{.record_bytes = 10}, "with their keys"),
                                  std::pair(sort_options{.count = true}, "not at all")}) {
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->values, values);
  }
  const auto ems = run(sort_algorithm::ems, 34 * kMiB);
  EXPECT_EQ(ems.values, "with their keys");
  const auto other = std::find_if(ems.stages.begin(), ems.stages.end(),
                                  [](const auto& s) { return s.stage == sort_stage::run_other; });
  ASSERT_NE(other, ems.stages.end());
  EXPECT_EQ(name(other->stage), "RUN other");
  EXPECT_GT(other->seconds, 0);
}

// Enough for several rounds of all threads, with keys that are seldom and with keys that are not.
TEST(SortFile, SamplesortPartitionsWithAnyNumberOfThreads) {
  const scratch dir;
  base::random random(11);
  for (const shape s : {shape::random, shape::skewed, shape::reversed}) {
    store(dir.file("in"), make_records(s, 250'000, 30, 0, 10, random));
    ASSERT_TRUE(sort_file(dir.file("in"), dir.file("expected"),
                          {.record_bytes = 30, .key_bytes = 30, .memory_bytes = 64 * kMiB}));
    for (const unsigned threads : {1u, 3u, 16u}) {
      sort_options o{.record_bytes = 30, .key_bytes = 30, .memory_bytes = 128 * kMiB};
      o.algorithm = sort_algorithm::samplesort;
      o.read_threads = o.write_threads = o.sort_threads = threads;
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected")))
          << "seed 11, shape " << static_cast<int>(s) << ", " << threads << " threads";
    }
  }
}

TEST(SortFile, ConcurrencyModelsAgree) {
  const scratch dir;
  base::random random(7);
  const std::string all = make_records(shape::skewed, 50000, 100, 0, 10, random);
  store(dir.file("in"), all);
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass, sort_algorithm::ems}) {
    for (const auto c : {sort_concurrency::no_sync, sort_concurrency::io_overlap,
                         sort_concurrency::no_io_overlap}) {
      for (const unsigned threads : {1u, 3u}) {
        sort_options o{.memory_bytes = 64 * kMiB,
                       .algorithm = a,
                       .concurrency = c,
                       .read_threads = threads,
                       .write_threads = threads,
                       .sort_threads = threads};
        auto r = sort_file(dir.file("in"), dir.file("out"), o);
        ASSERT_TRUE(r) << r.error().message;
        EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o)) << name(a) << name(c);
      }
    }
  }
}

const stage_report* stage(const sort_report& r, sort_stage s) {
  const auto at = std::find_if(r.stages.begin(), r.stages.end(),
                               [&](const stage_report& one) { return one.stage == s; });
  return at == r.stages.end() ? nullptr : &*at;
}

// Reads and writes that are one have no time of their own, but bytes all the same.
TEST(SortFile, BytesAreReportedWhereStagesAreOne) {
  const scratch dir;
  base::random random(14);
  const std::string all = make_records(shape::random, 5000, 100, 0, 10, random);
  store(dir.file("in"), all);
  for (const bool durable : {true, false}) {
    const sort_options o{.memory_bytes = 64 * kMiB,
                         .algorithm = sort_algorithm::onepass,
                         .concurrency = sort_concurrency::no_sync,
                         .durable = durable};
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    ASSERT_NE(stage(*r, sort_stage::run_write), nullptr);
    EXPECT_EQ(stage(*r, sort_stage::run_write)->bytes_written, all.size());
    EXPECT_EQ(stage(*r, sort_stage::sync) != nullptr, durable);
  }
}

// From records of a page and more only the keys are read for the index map.
TEST(SortFile, KeysOfLargeRecordsAreReadAlone) {
  const scratch dir;
  base::random random(15);
  for (const bool sorted : {false, true}) {
    const std::string all =
        make_records(sorted ? shape::sorted : shape::random, 300, 5000, 100, 20, random);
    store(dir.file("in"), all);
    const sort_options o{.record_bytes = 5000,
                         .key_bytes = 20,
                         .key_offset = 100,
                         .memory_bytes = 32 * kMiB,
                         .durable = false};
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o));
    EXPECT_LE(stage(*r, sort_stage::run_read)->bytes_read, 300u * 20 + 8 * 20 * 40);
  }
}

// More input than memory: values come by scans of the input, not one by one.
TEST(SortFile, BeyondMemoryValuesComeByAFewScans) {
  const scratch dir;
  base::random random(10);
  const std::string all = make_records(shape::random, 200'000, 100, 0, 10, random);
  store(dir.file("in"), all);
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
    for (const auto c : {sort_concurrency::automatic, sort_concurrency::io_overlap}) {
      sort_options o{.memory_bytes = 33 * kMiB,
                     .algorithm = a,
                     .concurrency = c,
                     .sort_threads = kManyThreads,
                     .durable = false};
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o)) << name(a) << name(c);
      EXPECT_EQ(r->runs > 0, a == sort_algorithm::mergepass);
      ASSERT_NE(stage(*r, sort_stage::record_read), nullptr);
      EXPECT_GE(stage(*r, sort_stage::record_read)->bytes_read, 2 * all.size());
      EXPECT_LE(stage(*r, sort_stage::record_read)->bytes_read, 20 * all.size());
    }
  }
}

// Two buffers leave room for a small part of the input in each: merging whole records moves less.
TEST(SortFile, FarBeyondMemoryMergeSortIsChosen) {
  const scratch dir;
  base::random random(13);
  const std::string all = make_records(shape::random, 700'000, 100, 0, 10, random);
  store(dir.file("in"), all);
  const sort_options o{.memory_bytes = 32 * kMiB,
                       .concurrency = sort_concurrency::io_overlap,
                       .read_threads = 1,
                       .write_threads = 1,
                       .sort_threads = kManyThreads,
                       .durable = false};
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(r->algorithm, "ems");
  EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o));
  // Its own output, and that backwards: no runs.
  for (const bool reverse : {false, true}) {
    sort_options again = o;
    again.reverse = reverse;
    r = sort_file(dir.file("out"), dir.file("again"), again);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_EQ(r->runs, 0u);
    EXPECT_TRUE(contents(dir.file("again")) == sorted_copy(all, again)) << reverse;
  }
}

TEST(SortFile, SortedAndReversedInputsCostAScanAndACopy) {
  const scratch dir;
  base::random random(11);
  for (const auto s : {shape::sorted, shape::reversed, shape::equal}) {
    for (const bool reverse : {false, true}) {
      const std::string all = make_records(s, 100'000, 100, 0, 10, random);
      store(dir.file("in"), all);
      sort_options o{.reverse = reverse, .memory_bytes = 33 * kMiB, .durable = false};
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o)) << reverse;
      const bool backwards = s == (reverse ? shape::sorted : shape::reversed);
      EXPECT_EQ(r->algorithm, backwards ? "reversed copy" : "copy");
      ASSERT_NE(stage(*r, sort_stage::copy), nullptr);
      EXPECT_EQ(stage(*r, sort_stage::copy)->bytes_read, all.size());
      EXPECT_EQ(stage(*r, sort_stage::copy)->bytes_written, all.size());
      // Calls read whole records for their keys, and one of the next piece.
      EXPECT_GE(stage(*r, sort_stage::run_read)->bytes_read, all.size());
      EXPECT_LE(stage(*r, sort_stage::run_read)->bytes_read, all.size() + all.size() / 50);
      EXPECT_EQ(r->stages.size(), 2u);
    }
  }
}

TEST(SortFile, AlmostReversedInputWithEqualKeysKeepsTheirOrder) {
  const scratch dir;
  base::random random(12);
  std::string all = make_records(shape::reversed, 20'000, 100, 0, 10, random);
  all.replace(10'000 * 100, 10, all, 10'001 * 100, 10);
  store(dir.file("in"), all);
  const sort_options o{.memory_bytes = 64 * kMiB};
  ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), o));
  EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o));
}

TEST(SortFile, TheModelKnowsEveryFormatAndItsRecords) {
  const scratch dir;
  std::string lines;
  for (int i = 0; i < 20'000; ++i) lines += std::to_string(i * 7919 % 20'011) + '\n';
  store(dir.file("lines"), lines);
  const auto seconds_of = [&](sort_options o, sort_algorithm a) {
    o.device = "emu:pmem@1/100";
    auto all = explain_sort(dir.file("lines"), o);
    EXPECT_TRUE(all);
    const auto at = std::find_if(all->begin(), all->end(),
                                 [&](const sort_prediction& p) { return p.algorithm == a; });
    EXPECT_NE(at, all->end());
    return at->obstacle.empty() ? at->seconds : 0.0;
  };
  const sort_options text{.format = record_format::lines};
  EXPECT_GT(seconds_of(text, sort_algorithm::onepass), 0);
  EXPECT_EQ(seconds_of(text, sort_algorithm::ems), 0);
  // Short records are dear to gather, a granule each.
  lines.resize(lines.size() / 100 * 100);
  store(dir.file("lines"), lines);
  EXPECT_GT(seconds_of(text, sort_algorithm::onepass), 3 * seconds_of({}, sort_algorithm::onepass));
  EXPECT_GT(seconds_of({}, sort_algorithm::ems), 0);
}

TEST(SortFile, UniqueKeepsTheFirstAndTopTheSmallest) {
  const scratch dir;
  base::random random(8);
  const std::string all = make_records(shape::skewed, 5000, 100, 0, 10, random);
  store(dir.file("in"), all);
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
    sort_options o{.unique = true, .memory_bytes = 64 * kMiB, .algorithm = a};
    ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), o));
    const std::string expected = sorted_copy(all, o);
    EXPECT_TRUE(contents(dir.file("out")) == expected);
    o.top = 3;
    ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), o));
    EXPECT_TRUE(contents(dir.file("out")) == expected.substr(0, 300));
  }
}

std::string klv(const std::string& key, const std::string& value) {
  const auto n = static_cast<std::uint32_t>(value.size());
  std::string r = key;
  r.append(reinterpret_cast<const char*>(&n), 4);
  return r + value;
}

TEST(SortFile, KlvWithEmptyAndLargeValues) {
  const scratch dir;
  base::random random(9);
  std::vector<std::pair<std::string, std::string>> records;
  for (int i = 0; i < 3000; ++i) {
    std::string key(10, '\0');
    for (char& c : key) c = static_cast<char>(random.below(3) * 100);
    std::string value(random.below(4) == 0 ? 0 : random.below(300), static_cast<char>(i));
    records.emplace_back(key, value);
  }
  records[100].second.assign(16 * kMiB, 'L');
  records[200].second.assign((16 * kMiB) - 15, 'M');
  std::string all;
  for (const auto& [k, v] : records) all += klv(k, v);
  std::vector<std::size_t> order(records.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const int c = records[a].first.compare(records[b].first);
    return c != 0 ? c < 0 : a < b;
  });
  std::string expected;
  for (const std::size_t i : order) expected += klv(records[i].first, records[i].second);
  store(dir.file("in"), all);
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
    for (const std::uint64_t memory : {64 * kMiB, 512 * kMiB}) {
      sort_options o{
          .format = record_format::klv, .memory_bytes = memory, .algorithm = a, .check = true};
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_TRUE(contents(dir.file("out")) == expected) << memory;
    }
  }
  store(dir.file("cut"), all.substr(0, all.size() - 1));
  auto r = sort_file(dir.file("cut"), dir.file("new"), {.format = record_format::klv});
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("cut"), std::string::npos);
  EXPECT_EQ(dir.entries(), 3u);
}

/// Bytes that the values of a finished sort took to read.
std::uint64_t value_bytes_read(const sort_report& r) {
  std::uint64_t bytes = 0;
  for (const auto& s : r.stages) bytes += s.stage == sort_stage::record_read ? s.bytes_read : 0;
  return bytes;
}

// The index map, or its integers, hold them whole: nothing is read a second time.
TEST(KeysAlone, AreWrittenFromWhereTheyWereSorted) {
  const scratch dir;
  base::random random(43);
  for (const std::uint64_t record : {1, 3, 8, 9, 11}) {
    for (const bool reverse : {false, true}) {
      for (const auto a : {sort_algorithm::automatic, sort_algorithm::mergepass}) {
        for (const std::size_t n : {0, 1, 7, 70'000}) {  // the last: sorted by all threads
          const std::string all = make_records(shape::random, n, record, 0, record, random);
          store(dir.file("in"), all);
          sort_options o{.record_bytes = record,
                         .key_bytes = record,
                         .reverse = reverse,
                         .memory_bytes = 64 * kMiB,
                         .algorithm = a,
                         .durable = false,
                         .check = n <= 7};
          auto r = sort_file(dir.file("in"), dir.file("out"), o);
          ASSERT_TRUE(r) << r.error().message;
          EXPECT_EQ(value_bytes_read(*r), 0u) << "seed 43, record " << record;
          EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o))
              << "seed 43, record " << record << ", n " << n << ", " << r->algorithm;
          o.unique = true;
          ASSERT_TRUE(sort_file(dir.file("in"), dir.file("out"), o));
          EXPECT_TRUE(contents(dir.file("out")) == sorted_copy(all, o))
              << "seed 43, record " << record << ", n " << n;
        }
      }
    }
  }
}

// The bytes that a thread gathers before it writes fit in its processor's cache, however long the
// records.
TEST(LongRecords, AreWrittenInSmallPieces) {
  const scratch dir;
  base::random random(44);
  std::string all;
  for (int i = 0; i < 400; ++i) {
    const auto bytes = static_cast<std::uint32_t>(random.below(100'000));
    std::string key(10, 'k');
    for (char& c : key) c = static_cast<char>('a' + random.below(26));
    all += key;
    all.append(reinterpret_cast<const char*>(&bytes), sizeof bytes).append(bytes, key[0]);
  }
  store(dir.file("in"), all);
  const sort_options o{
      .format = record_format::klv, .memory_bytes = 512 * kMiB, .durable = false, .check = true};
  base::atomic<std::uint64_t> writes{0};
  os::set_fault_hook([&](os::io_call c) {
    if (c == os::io_call::write) writes.fetch_add_relaxed(1);
    return 0;
  });
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  os::set_fault_hook({});
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_GE(writes.load_relaxed(), all.size() >> 18) << "seed 44";
}

}  // namespace
}  // namespace isotherm
