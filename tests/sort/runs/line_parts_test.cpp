// Lines in memory, whose entries all threads make together: those that one thread makes.
#include "sort/runs/line_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/planned.hpp"
#include "sort/runs/loader.hpp"
#include "sort/scratch.hpp"

namespace isotherm::sort {
namespace {

using isotherm::testing::scratch;
using isotherm::testing::store;

constexpr std::size_t kRoom = 1 << 21;  // entries

class LineParts : public ::testing::Test {
 protected:
  void open(const std::string& text) {
    store(dir_.file("in"), text);
    open_anew();
  }
  /// Lengths that a load has noted are gone.
  void open_anew() {
    source_.emplace(source::open(dir_.file("in")).value());
    ASSERT_TRUE(source_->map());
  }
  /// All entries of the input, made with so many threads, at most `room` and up to `piece` bytes at
  /// a time.
  std::vector<entry> load(unsigned threads, std::size_t room = kRoom,
                          std::uint64_t piece = std::uint64_t{1} << 40) {
    open_anew();
    const sort_options o{.format = record_format::lines, .memory_bytes = std::uint64_t{1} << 30};
    job j(o, nullptr);
    const record_layout layout(o);
    plan p = planned(o, sort_algorithm::onepass, source_->size(), nullptr).value();
    p.sort_threads = threads;
    loader all({j, p, *source_, layout});
    std::vector<entry> found;
    std::vector<entry> some(room);
    while (!all.at_end()) {
      const std::size_t n = all.load(some, all.at() + piece);
      EXPECT_GT(n, 0u);
      if (n == 0) break;
      found.insert(found.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
    }
    EXPECT_EQ(all.records(), found.size());
    EXPECT_TRUE(j.status());
    lengths_.clear();
    for (const entry e : found) {
      lengths_.push_back(layout.locate(e, source_view(j, *source_)).bytes);
    }
    return found;
  }
  void expect_the_same() {
    const auto expected = load(1);
    const auto lengths = lengths_;
    for (const unsigned threads : {2u, 3u, 16u}) {
      EXPECT_TRUE(load(threads) == expected) << threads;
      EXPECT_TRUE(lengths_ == lengths) << threads;
      EXPECT_TRUE(load(threads, 20'000) == expected) << threads;
      EXPECT_TRUE(load(threads, kRoom, 3'000'000) == expected) << threads;
    }
  }

  scratch dir_;
  std::optional<source> source_;
  std::vector<std::uint64_t> lengths_;
};

std::string some_lines(std::size_t bytes, std::uint64_t longest, std::uint64_t seed) {
  base::random random(seed);
  std::string text;
  while (text.size() < bytes) {
    text += std::to_string(random()) + std::string(random.below(longest), 'x') + '\n';
  }
  return text;
}

TEST_F(LineParts, OfEvenLength) {
  open(some_lines(8 << 20, 60, 1));
  expect_the_same();
}

TEST_F(LineParts, ShortOnesBeforeLongOnesAndWithoutALastNewline) {
  std::string text(3 << 20, '\n');  // more lines in the first part than its share of the entries
  text += some_lines(5 << 20, 3000, 2) + "and no newline";
  open(text);
  expect_the_same();
}

TEST_F(LineParts, OneLineInManyParts) {
  open(some_lines(1 << 20, 9, 3) + std::string(std::size_t{17} << 20, 'l') + "\nlast\n");
  expect_the_same();
}

TEST_F(LineParts, AreNotTakenFromFewBytes) {
  open(some_lines(4000, 9, 4));
  const sort_options o{.format = record_format::lines, .memory_bytes = std::uint64_t{1} << 30};
  job j(o, nullptr);
  const record_layout layout(o);
  const plan p = planned(o, sort_algorithm::onepass, source_->size(), nullptr).value();
  std::vector<entry> some(kRoom);
  std::uint64_t at = 0;
  EXPECT_EQ(load_lines_by_all({j, p, *source_, layout}, some, at, source_->size()), 0u);
  EXPECT_EQ(at, 0u);
}

}  // namespace
}  // namespace isotherm::sort
