// Keys that come many times, which are taken out of a run before it is sorted.
#include "sort/index_sort/repeats.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/index_sort/refine.hpp"
#include "sort/planned.hpp"
#include "sort/runs/loader.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using isotherm::testing::scratch;
using isotherm::testing::store;

constexpr std::size_t kBlock = 1 << 14;  // as repeats.cpp has it

/// A mapped input of lines, and its entries.
class input_of {
 public:
  input_of(const std::vector<std::string>& lines, sort_options o, unsigned threads = 2)
      : job_(with_lines(std::move(o), threads), nullptr), layout_(job_.options) {
    std::string all;
    for (const std::string& line : lines) all += line + '\n';
    store(dir_.file("in"), all);
    source_.emplace(source::open(dir_.file("in")).value());
    EXPECT_TRUE(source_->map());
    plan_ = planned(job_.options, sort_algorithm::onepass, all.size(), nullptr).value();
    plan_.sort_threads = threads;
    entries.resize(lines.size() + 1);
    entries.resize(loader(ctx()).load(entries));
  }
  context ctx() { return {job_, plan_, *source_, layout_}; }
  /// Returns the place where the line of an entry begins.
  std::uint64_t offset_of(entry e) { return layout_.locate(e, source_view(job_, *source_)).offset; }
  bool dropped(entry e) const { return layout_.entries().dropped(e); }

  std::vector<entry> entries;

 private:
  static sort_options with_lines(sort_options o, unsigned threads) {
    o.format = record_format::lines;
    o.memory_bytes = std::uint64_t{1} << 30;
    o.sort_threads = threads;
    return o;
  }
  scratch dir_;
  job job_;
  record_layout layout_;
  std::optional<source> source_;
  plan plan_;
};

/// Lines of `values` different keys of some length, drawn evenly.
std::vector<std::string> draw(std::size_t n, std::uint64_t values, std::uint64_t seed) {
  base::random random(seed);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string v = std::to_string(random.below(values));
    lines.push_back("all begin alike " + v + std::string(v.back() - '0', 'x'));
  }
  return lines;
}

struct group {
  std::uint64_t offset = 0;  // of the first line
  std::uint64_t count = 0;
};

std::map<std::string, group> groups_of(const std::vector<std::string>& lines) {
  std::map<std::string, group> all;
  std::uint64_t offset = 0;
  for (const std::string& line : lines) {
    group& g = all[line];
    if (g.count++ == 0) g.offset = offset;
    offset += line.size() + 1;
  }
  return all;
}

TEST(Repeats, RunsHaveTheFirstOfEachKeyAndItsNumber) {
  for (const std::uint64_t values : {1u, 100u, 9000u, 40'000u, 1'000'000'000u}) {
    const auto lines = draw(7 * kBlock + 11, values, values);
    const auto expected = groups_of(lines);
    for (const unsigned threads : {1u, 2u, 5u}) {
      input_of counted(lines, {.count = true}, threads);
      ASSERT_EQ(sort_run(counted.ctx(), counted.entries, equal_keys::dropped), lines.size());
      auto next = expected.begin();
      for (std::size_t i = 0; i < lines.size(); ++next) {
        ASSERT_NE(next, expected.end());
        ASSERT_EQ(counted.offset_of(counted.entries[i]), next->second.offset) << next->first;
        const std::size_t begin = i++;
        while (i < lines.size() && counted.dropped(counted.entries[i])) ++i;
        ASSERT_EQ(i - begin, next->second.count) << next->first << ", values " << values;
      }
      input_of once(lines, {.unique = true}, threads);
      ASSERT_EQ(sort_run(once.ctx(), once.entries, equal_keys::removed), expected.size());
      next = expected.begin();
      for (std::size_t i = 0; i < expected.size(); ++i, ++next) {
        ASSERT_EQ(once.offset_of(once.entries[i]), next->second.offset) << next->first;
      }
    }
  }
}

TEST(Repeats, FewKeysLeaveFewEntriesInTheirOrder) {
  const auto lines = draw(6 * kBlock, 50, 3);
  input_of in(lines, {.unique = true});
  repeats found(in.ctx());
  ASSERT_TRUE(found.possible());
  const std::size_t left = found.take_out(in.entries);
  EXPECT_EQ(left, groups_of(lines).size());
  EXPECT_TRUE(std::is_sorted(in.entries.begin(), in.entries.begin() + std::ptrdiff_t(left),
                             [&](entry a, entry b) { return in.offset_of(a) < in.offset_of(b); }));
}

TEST(Repeats, TheSearchEndsWhereKeysDiffer) {
  auto lines = draw(5 * kBlock, 1'000'000'000'000, 4);
  const std::size_t differ = groups_of(lines).size();
  lines.resize(9 * kBlock, "all begin alike, and these are the same");
  input_of in(lines, {.unique = true});
  EXPECT_GE(repeats(in.ctx()).take_out(in.entries), differ + 4 * kBlock);
}

TEST(Repeats, KeysInAFieldAndInReverse) {
  std::vector<std::string> lines;
  base::random random(5);
  for (std::size_t i = 0; i < 5 * kBlock; ++i) {
    lines.push_back(std::to_string(i) + ",some-long-key-" + std::to_string(random.below(30)));
  }
  input_of in(lines,
              {.separator = ',', .keys = {{.first_field = 2}}, .reverse = true, .unique = true});
  EXPECT_EQ(sort_run(in.ctx(), in.entries, equal_keys::removed), 30u);
}

TEST(Repeats, KeysThatAreMadeAreLeftToTheSort) {
  input_of in(draw(10, 3, 6), {.keys = {{.folds_case = true}}, .unique = true});
  EXPECT_FALSE(repeats(in.ctx()).possible());
}

}  // namespace
}  // namespace isotherm::sort
