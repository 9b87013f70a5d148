// --top by one pass over the input: against the system's sort, and against the sort that is cut
// off.
#include <isotherm/sort.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "base/random.hpp"
#include "sort/planned.hpp"
#include "sort/scratch.hpp"

namespace isotherm {
namespace {

using testing::contents;
using testing::scratch;
using testing::store;

constexpr std::uint64_t kMiB = 1 << 20;

std::string make_text(base::random& random, std::uint64_t most, const char* alphabet) {
  const std::string letters = alphabet;
  std::string text;
  for (std::uint64_t n = random.below(most + 1); n > 0; --n) {
    text += letters[random.below(letters.size())];
  }
  return text;
}

std::string make_lines(base::random& random, std::size_t n) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    if (random.below(3) == 0) all += "https://example.org/a/common/prefix/";
    all += make_text(random, 12, "ab,,.Z\xff ");
    if (i == n / 2) all += std::string(600'000, 'q');
    if (i + 1 < n || n % 2 == 0) all += '\n';
  }
  return all;
}

std::string make_klv(base::random& random, std::size_t n, std::size_t key_bytes) {
  std::string all;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string value = make_text(random, 40, "value");
    std::string key = make_text(random, key_bytes, "kl");
    key.resize(key_bytes, 'k');
    const auto bytes = static_cast<std::uint32_t>(value.size());
    all += key + std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes) + value;
  }
  return all;
}

/// Sorts `dir`'s "in" to "out" and returns the report.
sort_report sorted(const scratch& dir, const sort_options& o) {
  auto r = sort_file(dir.file("in"), dir.file("out"), o);
  EXPECT_TRUE(r) << r.error().message;
  return r.value_or(sort_report{});
}

/// Expects of a selection the output of the sort by name that is cut off, from one pass.
void expect_as_cut_off(const scratch& dir, sort_options o, const std::string& asked) {
  o.durable = false;
  const sort_report r = sorted(dir, o);
  const std::string selected = contents(dir.file("out"));
  o.algorithm = sort_algorithm::mergepass;
  const sort_report whole = sorted(dir, o);
  EXPECT_TRUE(selected == contents(dir.file("out"))) << asked;
  EXPECT_EQ(r.algorithm, "selection") << asked;
  EXPECT_EQ(r.records, whole.records) << asked;
  EXPECT_EQ(r.records_written, whole.records_written) << asked;
  EXPECT_EQ(r.output_bytes, selected.size()) << asked;
  ASSERT_FALSE(r.stages.empty()) << asked;
  EXPECT_EQ(r.stages.front().bytes_read, r.input_bytes) << asked;
  EXPECT_EQ(r.runs, 0u) << asked;
}

TEST(Top, LinesAreThoseThatTheSystemsSortHasFirst) {
  const scratch dir;
  struct variant {
    std::string flags;
    sort_options options;
  };
  const variant variants[] = {
      {"", {}},
      {"-r", {.reverse = true}},
      {"-u", {.unique = true}},
      {"-r -u", {.reverse = true, .unique = true}},
      {"-t , -k 2", {.separator = ',', .keys = {{.first_field = 2}}}},
      {"-t , -k 2 -s", {.separator = ',', .keys = {{.first_field = 2}}, .stable = true}},
      {"-t , -k 2 -r",
       {.separator = ',', .keys = {{.first_field = 2, .reverse = true}}, .reverse = true}},
      {"-t , -k 3 -r -s",
       {.separator = ',',
        .keys = {{.first_field = 3, .reverse = true}},
        .reverse = true,
        .stable = true}},
      {"-t , -k 2 -u", {.separator = ',', .keys = {{.first_field = 2}}, .unique = true}},
      // Keys that are made of the lines.
      {"-t , -k 2,2n -k 1,1r",
       {.separator = ',',
        .keys = {{.first_field = 2, .last_field = 2, .kind = key_kind::numeric},
                 {.first_field = 1, .last_field = 1, .reverse = true}}}},
      {"-t , -k 9f",
       {.separator = ',', .keys = {{.first_field = 9, .folds_case = true}}}},  // empty
      {"-t , -k 1,1f -u",
       {.separator = ',',
        .keys = {{.first_field = 1, .last_field = 1, .folds_case = true}},
        .unique = true}},
  };
  for (const unsigned seed : {1u, 2u}) {
    base::random random(seed);
    store(dir.file("in"), make_lines(random, 60'000 + seed));
    for (const variant& v : variants) {
      for (const std::uint64_t top : {1, 100, 3000}) {
        for (const unsigned threads : {1u, 3u}) {
          const std::string command = "LC_ALL=C sort " + v.flags + " " + dir.file("in") +
                                      " | head -n " + std::to_string(top) + " > " +
                                      dir.file("expected");
          ASSERT_EQ(std::system(command.c_str()), 0);
          sort_options o = v.options;
          o.format = record_format::lines;
          o.top = top;
          o.memory_bytes = 64 * kMiB;
          o.read_threads = threads;
          o.durable = false;
          o.check = true;
          EXPECT_EQ(sorted(dir, o).algorithm, "selection");
          EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected")))
              << "seed " << seed << " flags " << v.flags << " top " << top;
        }
      }
    }
  }
}

TEST(Top, EveryFormatIsSelectedAsTheWholeSortOrdersIt) {
  const scratch dir;
  for (const unsigned seed : {3u, 4u}) {
    base::random random(seed);
    std::string fixed(std::size_t{20} * 60'000, '\0');
    for (char& c : fixed) c = static_cast<char>(random.below(3) * 90);
    const std::string lines = make_lines(random, 50'000);
    const std::string inputs[] = {fixed, make_klv(random, 50'000, 12), lines, lines};
    const sort_options formats[] = {
        {.record_bytes = 20, .key_bytes = 13, .key_offset = 4},
        {.format = record_format::klv, .key_bytes = 12},
        {.format = record_format::lines, .separator = ',', .keys = {{.first_field = 2}}},
        {.format = record_format::lines,
         .separator = ',',
         .keys = {{.first_field = 2, .last_field = 2, .kind = key_kind::general},
                  {.first_field = 1, .last_field = 1}}},
    };
    for (std::size_t f = 0; f < std::size(formats); ++f) {
      store(dir.file("in"), inputs[f]);
      for (const std::uint64_t top : {1, 7, 1500}) {
        for (const unsigned variant : {0u, 1u, 2u, 3u, 4u, 5u}) {
          sort_options o = formats[f];
          o.top = top;
          o.reverse = variant % 2 != 0;
          o.unique = variant / 2 == 1;
          o.count = variant / 2 == 2;
          o.memory_bytes = 64 * kMiB;
          expect_as_cut_off(dir, o,
                            "seed " + std::to_string(seed) + " format " + std::to_string(f) +
                                " top " + std::to_string(top) + " variant " +
                                std::to_string(variant));
        }
      }
    }
  }
}

// Every record comes before all earlier ones, so that each becomes a candidate.
TEST(Top, DescendingInputIsSelected) {
  const scratch dir;
  std::string all;
  for (int i = 99'999; i >= 0; --i) all += std::to_string(100'000 + i) + "\n";
  store(dir.file("in"), all);
  expect_as_cut_off(dir, {.format = record_format::lines, .top = 3, .memory_bytes = 32 * kMiB}, "");
  EXPECT_EQ(contents(dir.file("out")), "100000\n100001\n100002\n");
}

TEST(Top, RecordsThatDoNotFitAreLeftToTheSort) {
  const scratch dir;
  sort_options o{
      .format = record_format::lines, .top = 100, .memory_bytes = 32 * kMiB, .durable = false};
  std::string short_lines;
  for (int i = 0; i < 200'000; ++i) short_lines += "short" + std::to_string(i % 977) + "\n";
  // The lines wanted together are larger than the memory, and one line is larger than any block.
  std::string wanted;
  for (int i = 0; i < 200; ++i)
    wanted += "a" + std::to_string(i) + std::string(200'000, 'w') + "\n";
  for (const std::string& more : {wanted, "a" + std::string(30 * kMiB, 'l') + "\n"}) {
    store(dir.file("in"), short_lines + more);
    ASSERT_EQ(
        std::system(("LC_ALL=C sort " + dir.file("in") + " | head -n 100 > " + dir.file("expected"))
                        .c_str()),
        0);
    EXPECT_NE(sorted(dir, o).algorithm, "selection");
    EXPECT_TRUE(contents(dir.file("out")) == contents(dir.file("expected")));
  }
}

TEST(Top, RecordsThatAreCutAreReported) {
  const scratch dir;
  base::random random(5);
  store(dir.file("in"), make_klv(random, 10'000, 8) + "cut");
  const sort_options o{.format = record_format::klv, .key_bytes = 8, .top = 3};
  const auto r = sort_file(dir.file("in"), dir.file("out"), o);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().message.find("is cut"), std::string::npos) << r.error().message;
  EXPECT_EQ(dir.entries(), 1u);
}

TEST(Top, IsSelectedWhereThatCostsLess) {
  using sort::planned;
  const auto threads = [](sort_options o, std::uint64_t bytes, sort_algorithm a) {
    o.read_threads = 4;
    o.memory_bytes = 128 * kMiB;
    return planned(o, a, bytes, nullptr)->selection_threads;
  };
  const std::uint64_t large = 100 * kMiB * 100;
  EXPECT_EQ(threads({.top = 1000}, large, sort_algorithm::automatic), 4u);
  EXPECT_EQ(threads({.top = 0}, large, sort_algorithm::automatic), 0u);
  EXPECT_EQ(threads({.top = 1000}, large, sort_algorithm::mergepass), 0u);
  // Candidates of some threads, then of none, fit in the memory.
  EXPECT_GE(threads({.top = 100'000}, large, sort_algorithm::automatic), 1u);
  EXPECT_LT(threads({.top = 100'000}, large, sort_algorithm::automatic), 4u);
  EXPECT_EQ(threads({.top = 1'000'000}, large, sort_algorithm::automatic), 0u);
  // Most records are wanted, or keys can be read alone.
  EXPECT_EQ(threads({.top = 1000}, 100 * 1000, sort_algorithm::automatic), 0u);
  EXPECT_EQ(threads({.record_bytes = 8192, .top = 10}, 8192 * 100'000, sort_algorithm::automatic),
            0u);
}

// A selection writes no runs: it needs no space for them.
TEST(Top, NeedsNoTemporarySpace) {
  const sort_options o{.top = 1000, .memory_bytes = 64 * kMiB};
  const std::uint64_t records = 100 * kMiB;
  const auto p = sort::planned(o, o.algorithm, records * 100, nullptr);
  ASSERT_TRUE(p);
  EXPECT_EQ(sort::find(o.algorithm).temporary_bytes(*p, o, records * 100, records), 0u);
}

}  // namespace
}  // namespace isotherm
