// --count against a map of the standard library and against the system's sort and uniq; and that it
// reads no values.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "base/random.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;

std::string number(std::uint64_t n, std::size_t bytes) {
  std::string s(bytes, '\0');
  std::memcpy(s.data(), &n, bytes);
  return s;
}

std::string counts_of(const std::map<std::string, std::uint64_t>& groups, std::uint64_t top) {
  std::string all;
  for (const auto& [key, count] : groups) {
    all += key + number(count, 8);
    if (--top == 0) break;
  }
  return all;
}

std::uint64_t bytes_read(const sort_report& r) {
  std::uint64_t all = 0;
  for (const auto& s : r.stages) all += s.bytes_read;
  return all;
}

TEST(Count, FixedRecordsOfShortAndLongKeys) {
  const scratch dir;
  base::random random(11);
  for (const std::size_t key : {1, 10, 11, 12, 40}) {
    for (const std::size_t n : {0, 1, 2, 20000}) {
      std::string all;
      std::map<std::string, std::uint64_t> groups;
      for (std::size_t i = 0; i < n; ++i) {
        std::string k(key, 'k');
        k.back() = static_cast<char>(random.below(7));
        if (key > 12) k[12] = static_cast<char>(random.below(3));
        ++groups[k];
        all += "ab" + k + std::string(100 - 2 - key, 'v');
      }
      store(dir.file("in"), all);
      for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
        for (const std::uint64_t top : {0, 2}) {
          sort_options o{.key_bytes = key,
                         .key_offset = 2,
                         .top = top,
                         .count = true,
                         .memory_bytes = 64 * kMiB,
                         .algorithm = a,
                         .check = true};
          auto r = sort_file(dir.file("in"), dir.file("out"), o);
          ASSERT_TRUE(r) << r.error().message << ": seed 11, key " << key << ", n " << n;
          EXPECT_TRUE(contents(dir.file("out")) == counts_of(groups, top)) << key << ' ' << n;
          EXPECT_EQ(r->records, n);
          EXPECT_EQ(r->records_written, top == 0 ? groups.size() : std::min(top, groups.size()));
        }
      }
    }
  }
}

// The input is mapped: calls would move whole records of this size.
TEST(Count, ReadsKeysAndNeverValues) {
  const scratch dir;
  std::string all;
  for (int i = 0; i < 20000; ++i)
    all += number(static_cast<std::uint64_t>(i % 9), 10) + std::string(990, 'v');
  store(dir.file("in"), all);
  sort_options o{.record_bytes = 1000,
                 .count = true,
                 .memory_bytes = 128 * kMiB,
                 .algorithm = sort_algorithm::onepass};
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_TRUE(r) << r.error().message;
  EXPECT_EQ(bytes_read(*r), 20000u * 10);
  EXPECT_EQ(r->records_written, 9u);
}

TEST(Count, KlvInReverse) {
  const scratch dir;
  base::random random(12);
  std::string all;
  std::map<std::string, std::uint64_t, std::greater<>> groups;
  for (int i = 0; i < 5000; ++i) {
    const std::string key = "key" + number(random.below(40), 7);
    const std::string value(random.below(3) * random.below(200), 'x');
    ++groups[key];
    all += key + number(value.size(), 4) + value;
  }
  store(dir.file("in"), all);
  std::string expected;
  for (const auto& [key, count] : groups) expected += key + number(count, 8);
  for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
    sort_options o{.format = record_format::klv,
                   .reverse = true,
                   .count = true,
                   .memory_bytes = 64 * kMiB,
                   .algorithm = a,
                   .check = true};
    auto r = sort_file(dir.file("in"), dir.file("out"), o);
    ASSERT_TRUE(r) << r.error().message;
    EXPECT_TRUE(contents(dir.file("out")) == expected) << "seed 12";
  }
}

TEST(Count, LinesAsTheSystemsSortAndUniqCountThem) {
  const scratch dir;
  base::random random(13);
  std::string all;
  for (int i = 0; i < 5000; ++i) {
    all += "f" + std::to_string(random.below(30)) + "\t";
    all += std::string(random.below(2) * 40, 'q') + std::to_string(random.below(9));
    if (i == 2500) all += std::string(300'000, 'z');
    all += random.below(50) == 0 ? "\n\n" : "\n";
  }
  all += "f\tthe last line has no newline";
  store(dir.file("in"), all);
  struct variant {
    std::string cut;
    std::vector<sort_key> keys;
  };
  for (const auto& v :
       {variant{"cat", {}}, variant{"sed 's/^[^\\t]*\\t\\?//'", {{.first_field = 2}}}}) {
    const std::string command = v.cut + " < " + dir.file("in") +
                                " | LC_ALL=C sort | uniq -c | sed 's/^ *//; s/ /\\t/' > " +
                                dir.file("expected");
    ASSERT_EQ(std::system(command.c_str()), 0);
    for (const auto a : {sort_algorithm::onepass, sort_algorithm::mergepass}) {
      sort_options o{.format = record_format::lines,
                     .separator = '\t',
                     .keys = v.keys,
                     .count = true,
                     .memory_bytes = 64 * kMiB,
                     .algorithm = a,
                     .check = true};
      auto r = sort_file(dir.file("in"), dir.file("out"), o);
      ASSERT_TRUE(r) << r.error().message;
      EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected"))) << v.cut;
    }
  }
}

TEST(Count, IsRefusedWhereItMakesNoSense) {
  const scratch dir;
  store(dir.file("in"), std::string(1000, 'x'));
  auto both = sort_file(dir.file("in"), dir.file("out"), {.unique = true, .count = true});
  ASSERT_FALSE(both);
  EXPECT_NE(both.error().message.find("--unique and --count"), std::string::npos);
  auto ems =
      sort_file(dir.file("in"), dir.file("out"), {.count = true, .algorithm = sort_algorithm::ems});
  ASSERT_FALSE(ems);
  EXPECT_NE(ems.error().message.find("--count"), std::string::npos);
  EXPECT_EQ(dir.entries(), 1u);
}

}  // namespace
}  // namespace isotherm
