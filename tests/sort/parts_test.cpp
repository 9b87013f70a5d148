// Whole fixed records, more than fit in memory, against the standard library's sort.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.hpp"
#include "sort/planned.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr unsigned kSeed = 45;

/// Options with memory for about a million integers or 400,000 records of 8 bytes and 3 of value.
sort_options options_for(std::uint64_t record_bytes, std::uint64_t key_offset,
                         std::uint64_t key_bytes, bool reverse) {
  return {.record_bytes = record_bytes,
          .key_bytes = key_bytes,
          .key_offset = key_offset,
          .reverse = reverse,
          .memory_bytes = 32 * kMiB,
          .sort_threads = 26,  // whose memory halves the room for runs
          .durable = false};
}

/// Sorts `all` by parts, and expects of it the order of a stable sort.
void expect_sorted(const std::string& all, const sort_options& o) {
  const scratch dir;
  store(dir.file("in"), all);
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(r) << r.error().message;
  std::vector<std::string_view> records;
  for (std::size_t at = 0; at < all.size(); at += o.record_bytes) {
    records.push_back(std::string_view(all).substr(at, o.record_bytes));
  }
  std::sort(records.begin(), records.end(), [&](std::string_view a, std::string_view b) {
    const int order =
        a.substr(o.key_offset, o.key_bytes).compare(b.substr(o.key_offset, o.key_bytes));
    if (order == 0) return a.data() < b.data();  // in input order
    return o.reverse ? order > 0 : order < 0;
  });
  std::string expected;
  for (const std::string_view record : records) expected += record;
  EXPECT_TRUE(contents(dir.file("out")) == expected)
      << "seed " << kSeed << " record " << o.record_bytes << " reverse " << o.reverse;
  EXPECT_EQ(r->algorithm, "parts");
  EXPECT_GE(r->runs, 3u);
  // Every record is read and written twice.
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  for (const stage_report& s : r->stages) {
    read += s.bytes_read;
    written += s.bytes_written;
  }
  EXPECT_EQ(written, 2 * r->input_bytes);
  EXPECT_LE(read, 2 * r->input_bytes + r->input_bytes / 10);
  EXPECT_EQ(dir.entries(), 2u);
}

/// The bytes of the records, each the last `record_bytes` of a big-endian integer.
std::string bytes_of(const std::vector<std::uint64_t>& integers, std::uint64_t record_bytes) {
  std::string all;
  all.reserve(integers.size() * record_bytes);
  for (const std::uint64_t integer : integers) {
    const std::uint64_t bytes = __builtin_bswap64(integer);
    all.append(reinterpret_cast<const char*>(&bytes) + sizeof bytes - record_bytes, record_bytes);
  }
  return all;
}

void expect_sorted(const std::vector<std::uint64_t>& integers, std::uint64_t record_bytes,
                   bool reverse) {
  expect_sorted(bytes_of(integers, record_bytes),
                options_for(record_bytes, 0, record_bytes, reverse));
}

// Records with equal keys keep their order, wherever a part ends: the key's last bytes decide, of
// which an entry holds none, and most keys come many times.
TEST(Parts, OfRecordsKeepTheOrderOfEqualKeys) {
  base::random random(kSeed);
  for (const std::uint64_t key : {4, 18}) {
    for (const bool reverse : {false, true}) {
      const sort_options o = options_for(32, 2, key, reverse);
      std::string all(std::size_t{700'000} * 32, 'x');
      std::uint32_t number = 0;
      for (std::size_t at = 0; at < all.size(); at += 32) {
        const std::uint64_t skew = random.below(3) == 0 ? random.below(500) : 77;
        all[at + 1 + key] = static_cast<char>(skew);
        all[at + key] = static_cast<char>(skew >> 8);
        std::memcpy(&all[at + 28], &++number, sizeof number);
      }
      expect_sorted(all, o);
    }
  }
}

TEST(Parts, OfIntegersOfAnySizeAreInOrder) {
  base::random random(kSeed);
  std::vector<std::uint64_t> integers(3'500'000);
  for (const std::uint64_t record : {8, 5}) {
    for (const bool reverse : {false, true}) {
      for (auto& each : integers) each = random() >> (64 - 8 * record);
      expect_sorted(integers, record, reverse);
    }
  }
}

// Numbers do not order as their bytes do, neither alone nor as keys of records.
TEST(Parts, OfRecordsWithNumbersAsKeysAreInOrder) {
  base::random random(kSeed);
  for (const std::uint64_t record : {8, 24}) {
    for (const bool reverse : {false, true}) {
      sort_options o = options_for(record, 0, 8, reverse);
      o.number = record_number{.kind = number_kind::integer};
      std::string all(3'500'000 / (record / 8) * record, 'v');
      for (std::size_t at = 0; at < all.size(); at += record) {
        const std::uint64_t number = random();
        std::memcpy(&all[at], &number, sizeof number);
      }
      const scratch dir;
      store(dir.file("in"), all);
      const auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_EQ(r->algorithm, "parts");
      EXPECT_GE(r->runs, 3u);
      const std::string sorted = contents(dir.file("out"));
      ASSERT_EQ(sorted.size(), all.size());
      std::int64_t last = reverse ? INT64_MAX : INT64_MIN;
      for (std::size_t at = 0; at < sorted.size(); at += record) {
        std::int64_t number = 0;
        std::memcpy(&number, &sorted[at], sizeof number);
        ASSERT_TRUE(reverse ? number <= last : number >= last)
            << "seed " << kSeed << " record " << record << " at " << at;
        last = number;
      }
    }
  }
}

// In the middle of a run.
TEST(Parts, EndAmongEqualIntegers) {
  base::random random(kSeed);
  std::vector<std::uint64_t> integers(3'500'000);
  for (auto& each : integers) each = random.below(20) == 0 ? random.below(1000) : 500;
  expect_sorted(integers, 8, false);
}

TEST(Parts, ComeFromRunsThatDoNotOverlap) {
  std::vector<std::uint64_t> integers;
  for (std::uint64_t i = 3'500'000; i > 0; --i) integers.push_back(i ^ 1);
  expect_sorted(integers, 8, false);
}

TEST(Parts, NeedRoomForTheirRunsAndForSamplesOfThem) {
  using sort::planned;
  const sort_options o{.record_bytes = 8, .key_bytes = 8, .memory_bytes = 64 * kMiB};
  const auto plan_of = [&](std::uint64_t bytes) {
    return planned(o, o.algorithm, bytes, nullptr).value();
  };
  const auto temporary = [&](std::uint64_t bytes) {
    return sort::find(o.algorithm).temporary_bytes(plan_of(bytes), o, bytes, bytes / 8);
  };
  EXPECT_GE(plan_of(8 * kMiB).part_records, kMiB);
  EXPECT_EQ(temporary(8 * kMiB), 0u);
  EXPECT_LT(plan_of(1024 * kMiB).part_records, 8 * kMiB);
  EXPECT_GT(plan_of(1024 * kMiB).part_records, 4 * kMiB);
  EXPECT_EQ(temporary(1024 * kMiB), 1024 * kMiB);
  EXPECT_EQ(plan_of(1024 * 1024 * kMiB).part_records, 0u);
}

TEST(Parts, AreOfWholeFixedRecordsBelowAPage) {
  const auto planned_in_parts = [](sort_options o, sort_algorithm a) {
    o.memory_bytes = 64 * kMiB;
    const std::uint64_t bytes = 1000 * o.record_bytes * 1000;
    const auto known = sort::facts_of({.bytes = bytes, .records = 1'000'000}, nullptr);
    sort::plan p = sort::make_plan(o, a, known).value();
    return sort::consider_parts(p, o, known);
  };
  using enum sort_algorithm;
  EXPECT_TRUE(planned_in_parts({}, automatic));
  EXPECT_TRUE(planned_in_parts({.record_bytes = 4000}, automatic));
  EXPECT_FALSE(planned_in_parts({.record_bytes = 4096}, automatic));
  EXPECT_FALSE(planned_in_parts({}, mergepass));
  EXPECT_FALSE(planned_in_parts({.unique = true}, automatic));
  EXPECT_FALSE(planned_in_parts({.format = record_format::lines}, automatic));
}

}  // namespace
}  // namespace isotherm
