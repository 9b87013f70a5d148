// Dividing an input by ranges of keys: sorted apart and put together, the parts are the sorted
// input.
#include <isotherm/split.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <stop_token>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "os/faults.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;

std::uint64_t seed() {
  const char* given = std::getenv("ISOTHERM_SEED");
  const std::uint64_t s =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
  std::printf("ISOTHERM_SEED=%llu\n", static_cast<unsigned long long>(s));
  return s;
}

std::string text(base::random& random, std::uint64_t most) {
  std::string made;
  for (std::uint64_t n = random.below(most + 1); n > 0; --n) made += "ab,.Z\xff "[random.below(7)];
  return made;
}

/// Lines of which many are equal in their first field, and one is longer than a block.
std::string make_lines(base::random& random, std::size_t n) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    all += random.below(2) == 0 ? "hot" : text(random, 6);
    all += ',' + std::to_string(random.below(1000));
    if (i == n / 2) all += std::string(5 * kMiB / 4, 'q');
    if (i + 1 < n || random.below(2) == 0) all += '\n';
  }
  return all;
}

std::string make_rows(base::random& random, std::size_t n) {
  std::string all = "name,\"a\nb\"\n";
  for (std::size_t i = 0; i < n; ++i) {
    all += '"' + text(random, 5) + "\n\"\"\"," + std::to_string(random.below(100)) + '\n';
  }
  return all;
}

std::string make_klv(base::random& random, std::size_t n, std::size_t key_bytes) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string value = i == n / 2 ? std::string(5 * kMiB / 4, 'v') : text(random, 60);
    std::string key = random.below(3) == 0 ? "hot" : text(random, key_bytes);
    key.resize(key_bytes, 'k');
    const auto bytes = static_cast<std::uint32_t>(value.size());
    all += key + std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + value;
  }
  return all;
}

std::string make_fixed(base::random& random, std::size_t n, std::size_t bytes) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    std::string record = random.below(4) == 0 ? "hothothot." : text(random, 9);
    record.resize(bytes, static_cast<char>('a' + random.below(26)));
    all += record;
  }
  return all;
}

std::vector<std::string> names(const scratch& dir, std::size_t parts) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < parts; ++i) all.push_back(dir.file("part" + std::to_string(i)));
  return all;
}

std::string sorted(const scratch& dir, const std::string& input, const sort_options& o) {
  const auto r = sort_file(input, dir.file("sorted"), o);
  EXPECT_TRUE(r) << r.error().message;
  return r ? contents(dir.file("sorted")) : "";
}

/// Expects that the parts of `dir`'s "in", each sorted, are the sorted input. The header of an
/// input that has one, of `header_bytes`, is in front of each part.
split_report expect_parts(const scratch& dir, const sort_options& o, const split_request& asked,
                          std::size_t header_bytes = 0) {
  const auto r = split_files({dir.file("in")}, asked, o);
  EXPECT_TRUE(r) << r.error().message;
  if (!r) return {};
  std::string together;
  std::uint64_t records = 0;
  for (const split_part& part : r->parts) {
    EXPECT_EQ(part.bytes, contents(part.path).size());
    records += part.records;
    const std::string one = sorted(dir, part.path, o);
    together += together.empty() ? one : one.substr(header_bytes);
  }
  EXPECT_EQ(records, r->records);
  EXPECT_TRUE(together == sorted(dir, dir.file("in"), o));
  return *r;
}

sort_options options_of(record_format format) {
  sort_options o;
  o.format = format;
  o.memory_bytes = 64 * kMiB;
  o.durable = false;
  if (format == record_format::fixed) o.record_bytes = 24;
  return o;
}

TEST(Split, PartsOfLinesAreTheSortedLines) {
  base::random random(seed());
  const sort_key first{.first_field = 1, .last_field = 1};
  const sort_key number{.first_field = 2, .last_field = 2, .kind = key_kind::numeric};
  for (const std::vector<sort_key>& keys :
       std::vector<std::vector<sort_key>>{{}, {first}, {number}, {first, number}}) {
    for (const bool reverse : {false, true}) {
      for (const bool stable : {false, true}) {
        const scratch dir;
        sort_options o = options_of(record_format::lines);
        o.separator = ',';
        o.keys = keys;
        for (sort_key& k : o.keys) k.reverse = reverse;
        o.reverse = reverse;
        o.stable = stable;
        store(dir.file("in"), make_lines(random, 4000));
        expect_parts(dir, o, {.outputs = names(dir, 2 + random.below(9))});
      }
    }
  }
}

TEST(Split, PartsOfRowsBeginWithTheHeader) {
  base::random random(seed());
  const scratch dir;
  sort_options o = options_of(record_format::lines);
  o.csv = true;
  o.header_lines = 1;
  o.keys = {{.column = "name"}};
  const std::string rows = make_rows(random, 20'000);
  store(dir.file("in"), rows);
  const std::size_t header = std::string("name,\"a\nb\"\n").size();
  const auto r = expect_parts(dir, o, {.outputs = names(dir, 4)}, header);
  for (const split_part& part : r.parts) {
    EXPECT_EQ(contents(part.path).substr(0, header), rows.substr(0, header));
  }
}

TEST(Split, PartsOfRecordsAreTheSortedRecords) {
  base::random random(seed());
  for (const auto format : {record_format::fixed, record_format::klv}) {
    for (const bool reverse : {false, true}) {
      const scratch dir;
      sort_options o = options_of(format);
      o.reverse = reverse;
      store(dir.file("in"), format == record_format::fixed ? make_fixed(random, 50'000, 24)
                                                           : make_klv(random, 10'000, 10));
      expect_parts(dir, o, {.outputs = names(dir, 7)});
    }
  }
}

TEST(Split, EvenPartsComeFromASample) {
  base::random random(seed());
  const scratch dir;
  sort_options o = options_of(record_format::fixed);
  o.record_bytes = o.key_bytes = 8;
  std::string all(std::size_t{8} * 200'000, '\0');
  std::ranges::generate(all, [&] { return static_cast<char>(random.below(256)); });
  store(dir.file("in"), all);
  const auto r = expect_parts(dir, o, {.outputs = names(dir, 8)});
  for (const split_part& part : r.parts) {
    EXPECT_GT(part.records, 25'000u * 3 / 4);
    EXPECT_LT(part.records, 25'000u * 5 / 4);
  }
}

TEST(Split, EqualRecordsAreSharedOutAmongEqualBoundaries) {
  const scratch dir;
  sort_options o = options_of(record_format::fixed);
  o.record_bytes = 16;
  o.key_bytes = 4;
  std::string all;
  for (int i = 0; i < 40'000; ++i) {
    std::string number = std::to_string(i);
    number.insert(0, 12 - number.size(), '0');
    all += "same" + number;
  }
  store(dir.file("in"), all);
  store(dir.file("at"), "same------------same------------same------------");
  const auto r = expect_parts(dir, o, {.outputs = names(dir, 4), .boundaries = dir.file("at")});
  ASSERT_EQ(r.parts.size(), 4u);
  EXPECT_EQ(r.parts[0].records, 0u);
  for (const std::size_t part : {1u, 2u, 3u}) EXPECT_NEAR(r.parts[part].records, 13'333, 2);
  // The second half of an input: its records belong behind those of the first half.
  const auto second = split_files(
      {dir.file("in")},
      {.outputs = names(dir, 4), .boundaries = dir.file("at"), .place_begin = .5, .place_end = 1},
      o);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->parts[1].records, 0u);
  EXPECT_NEAR(second->parts[2].records, 13'333, 2);
  const auto last = split_files(
      {dir.file("in")},
      {.outputs = names(dir, 4), .boundaries = dir.file("at"), .place_begin = 1, .place_end = 1},
      o);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->parts[3].records, 40'000u);
}

TEST(Split, APartBeginsWithItsBoundary) {
  const scratch dir;
  const sort_options o = options_of(record_format::lines);
  store(dir.file("in"), "b\na\nc\nbb\nb\nd");
  store(dir.file("at"), "b\nc\n");
  ASSERT_TRUE(
      split_files({dir.file("in")}, {.outputs = names(dir, 3), .boundaries = dir.file("at")}, o));
  EXPECT_EQ(contents(dir.file("part0")), "a\n");
  EXPECT_EQ(contents(dir.file("part1")), "b\nbb\nb\n");
  EXPECT_EQ(contents(dir.file("part2")), "c\nd\n");
}

TEST(Split, AnEmptyInputGivesEmptyParts) {
  const scratch dir;
  store(dir.file("in"), "");
  for (const auto format : {record_format::lines, record_format::fixed, record_format::klv}) {
    expect_parts(dir, options_of(format), {.outputs = names(dir, 3)});
  }
}

TEST(Split, ASampleIsInOrderAndFromAllOfTheInput) {
  base::random random(seed());
  const scratch dir;
  for (const auto format : {record_format::lines, record_format::fixed, record_format::klv}) {
    sort_options o = options_of(format);
    std::string all;
    for (int i = 0; i < 10'000; ++i) {
      std::string key = std::to_string(10'000'000 + i);
      if (format == record_format::lines) all += key + "\n";
      if (format == record_format::fixed) all += key + std::string(16, '.');
      if (format == record_format::klv) all += key + ".." + std::string(4, '\0');
    }
    store(dir.file("in"), all);
    const auto n = sample_files({dir.file("in")}, dir.file("out"), 100, o);
    ASSERT_TRUE(n) << n.error().message;
    EXPECT_EQ(*n, 100u);
    const std::string sample = contents(dir.file("out"));
    const std::size_t each = sample.size() / 100;
    for (std::size_t i = 0; i < 100; ++i) {
      const int number = std::stoi(sample.substr(i * each, 8)) - 10'000'000;
      EXPECT_NEAR(number, static_cast<int>(i + 1) * 10'000 / 101, 2);
    }
    const auto whole = sample_files({dir.file("in")}, dir.file("out"), 1'000'000, o);
    ASSERT_TRUE(whole);
    EXPECT_EQ(*whole, 10'000u);
    EXPECT_EQ(contents(dir.file("out")), all);
  }
}

/// Expects an error with `words` that leaves nothing behind.
void expect_refused(const scratch& dir, const sort_options& o, const split_request& asked,
                    const std::string& words) {
  const std::size_t before = dir.entries();
  const auto r = split_files({dir.file("in")}, asked, o);
  ASSERT_FALSE(r) << words;
  EXPECT_NE(r.error().message.find(words), std::string::npos) << r.error().message;
  EXPECT_EQ(dir.entries(), before) << words;
}

TEST(Split, RefusesWhatCannotSucceed) {
  const scratch dir;
  sort_options o = options_of(record_format::lines);
  store(dir.file("in"), "a\nb\nc\n");
  store(dir.file("at"), "c\nb\n");
  expect_refused(dir, o, {.outputs = names(dir, 1)}, "two parts or more");
  expect_refused(dir, o, {.outputs = {dir.file("x"), dir.path() + "/./x"}},
                 "two parts have the name");
  expect_refused(dir, o, {.outputs = {dir.file("x"), dir.file("in")}}, "would replace a file");
  expect_refused(dir, o, {.outputs = {dir.file("x"), dir.file("at")}, .boundaries = dir.file("at")},
                 "would replace a file");
  expect_refused(dir, o, {.outputs = names(dir, 3), .boundaries = dir.file("at")},
                 "boundary 2 comes before");
  expect_refused(dir, o, {.outputs = names(dir, 4), .boundaries = dir.file("at")},
                 "4 parts take 3 boundaries");
  expect_refused(dir, o, {.outputs = names(dir, 2), .place_begin = .7, .place_end = .1},
                 "interval");
  sort_options unique = o;
  unique.unique = true;
  expect_refused(dir, unique, {.outputs = names(dir, 2)}, "leave out --unique");
  sort_options klv = options_of(record_format::klv);
  store(dir.file("in"), std::string("0123456789\x05\0\0\0abcd", 18));
  expect_refused(dir, klv, {.outputs = names(dir, 2)}, "the record at byte 0 is cut");
}

// A thread waits for the block before its own: it must not wait for one whose read has failed.
TEST(Split, EachCallThatFailsEndsAllThreadsAndLeavesNothing) {
  base::random random(seed());
  const scratch dir;
  sort_options o = options_of(record_format::fixed);
  o.memory_bytes = 32 * kMiB;
  o.read_threads = 3;
  store(dir.file("in"), make_fixed(random, 200'000, 24));
  const std::string bounds = "a                       b                       ";
  store(dir.file("at"), bounds);
  ASSERT_TRUE(
      split_files({dir.file("in")}, {.outputs = names(dir, 3), .boundaries = dir.file("at")}, o));
  std::vector<std::string> whole;
  for (const std::string& name : names(dir, 3)) whole.push_back(contents(name));
  for (int nth = 1;; ++nth) {
    for (const std::string& name : names(dir, 3)) std::filesystem::remove(name);
    std::atomic<int> calls{0};
    // A name that cannot be examined is no file that is read: the call that uses it fails anew.
    os::set_fault_hook(
        [&](os::io_call c) { return c != os::io_call::stat && ++calls == nth ? EIO : 0; });
    const auto r =
        split_files({dir.file("in")}, {.outputs = names(dir, 3), .boundaries = dir.file("at")}, o);
    os::set_fault_hook({});
    if (r) {
      EXPECT_GT(nth, 20);
      EXPECT_LT(calls, nth);
      return;
    }
    EXPECT_EQ(r.error().code, EIO) << r.error().message;
    // Complete files get their names one by one: those that have one hold all records.
    std::size_t there = 2;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (!std::filesystem::exists(names(dir, 3)[i])) continue;
      ++there;
      EXPECT_TRUE(contents(names(dir, 3)[i]) == whole[i]) << "call " << nth;
    }
    EXPECT_EQ(dir.entries(), there) << "call " << nth;
  }
}

TEST(Split, AStopLeavesNothing) {
  base::random random(seed());
  const scratch dir;
  sort_options o = options_of(record_format::lines);
  store(dir.file("in"), make_lines(random, 200'000));
  std::stop_source stop;
  o.stop = stop.get_token();
  o.progress = [&](sort_stage, std::uint64_t done, std::uint64_t) {
    if (done > 0) stop.request_stop();
  };
  const auto r = split_files({dir.file("in")}, {.outputs = names(dir, 4)}, o);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, EINTR);
  EXPECT_EQ(dir.entries(), 1u);
}

}  // namespace
}  // namespace isotherm
