// Guides of objects that have left DRAM, COLD being a file, and a thread that reads them past their
// mapping.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "guide/fetched.hpp"
#include "guide/guide.hpp"
#include "guide/in_cold.hpp"
#include "heap/cold/cold_file.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/usage.hpp"
#include "sync/retire.hpp"

namespace isotherm::testing_help {

/// Answers as it is told, for the test that has said so.
class told_policy final : public guides::return_policy {
 public:
  std::optional<unsigned> admit(guides::word w, std::size_t bytes,
                                heap::used_before before) noexcept override {
    ++asked;
    last_word = w;
    last_bytes = bytes;
    last_before = before;
    return answer;
  }
  void note_returned(std::size_t) noexcept override { ++came_back; }
  std::optional<unsigned> answer;
  int asked = 0, came_back = 0;
  guides::word last_word = 0;
  std::size_t last_bytes = 0;
  heap::used_before last_before = heap::used_before::no;
};

inline constexpr auto kCopies = access::copies::allowed;
inline constexpr auto kObjects = access::copies::refused;
inline constexpr auto kWait = access::when_cold::wait;
inline constexpr auto kRecord = access::when_cold::record;

class FetchedObjects : public testing::Test {
 protected:
  static constexpr std::size_t kCount = 100;

  static void SetUpTestSuite() { cold_in_a_file(); }
  FetchedObjects() : reader_(std::move(*heap::cold_reader::make())) {
    truncate_cold(cold_in_a_file(), kColdRangeBytes);
    for (std::size_t i = 0; i < kCount; ++i) {
      guides_.emplace_back(testing_help::bytes_in_cold(content(i)));
    }
    let_leave();
    for (const auto& each : guides_) EXPECT_TRUE(heap::is_out(address(each)));
  }
  ~FetchedObjects() override {
    guides::set_return_policy(nullptr);
    arrived_.clear();
    guides_.clear();
    sync::reclaim_ready();
    EXPECT_TRUE(heap::is_valid());
  }

  static std::string content(std::size_t i) {
    return std::string(1000 + i, static_cast<char>('!' + i % 90));
  }
  static void let_leave() {
    close_cold_extents();
    page_out_all();
  }
  static guides::word word_of(const guide<bytes>& g) { return g.slot().load_relaxed(); }
  static const bytes* address(const guide<bytes>& g) {
    return static_cast<const bytes*>(guides::pointer_of(word_of(g)));
  }
  static heap::kind heap_of(const guide<bytes>& g) { return guides::heap_of(word_of(g)); }
  static std::uint64_t objects_in(heap::kind where) {
    return heap::usage_of(where, heap::residency::left_out).objects;
  }
  static told_policy& ask_policy(std::optional<unsigned> answer) {
    static told_policy chosen;
    chosen = {};
    chosen.answer = answer;
    guides::set_return_policy(&chosen);
    return chosen;
  }

  std::shared_ptr<const heap::cold_read> read(heap::miss&& missed) {
    auto made = reader_->read(std::move(missed), 1);
    reader_->submit();
    while (!made->has_ended()) {
      reader_->wait(-1);
      reader_->take_ended([](std::uint64_t) {});
    }
    return made;
  }
  /// Uses the object of `g`, which is out, and has it read.
  void fetch(const guide<bytes>& g) {
    std::vector<heap::miss> missed;
    {
      access inside(kRecord);
      EXPECT_EQ(g.get(inside), nullptr);
      missed = inside.take_misses();
    }
    ASSERT_EQ(missed.size(), 1u);
    arrived_.add(read(std::move(missed.front())));
  }
  /// The result of a use with the reads that have arrived, with a copy of the content.
  struct use_result {
    const bytes* object = nullptr;
    std::optional<std::string> content{};
    access::outcome outcome = access::outcome::complete;
    std::size_t missed = 0;
  };
  use_result use(const guide<bytes>& g, access::copies may_use,
                 access::when_cold how = kRecord) const {
    access inside(how, &arrived_, may_use);
    use_result got;
    got.object = g.get(inside);
    if (got.object != nullptr) got.content = got.object->view();
    got.outcome = inside.result();
    got.missed = inside.take_misses().size();
    EXPECT_EQ(got.missed > 0, got.outcome == access::outcome::missed);
    return got;
  }
  /// No read gives it to an access that does not wait, which is told so.
  void expect_never_given(const guide<bytes>& g, access::copies may_use) const {
    const use_result got = use(g, may_use);
    EXPECT_EQ(got.object, nullptr);
    EXPECT_EQ(got.outcome, access::outcome::must_wait);
    EXPECT_TRUE(heap::is_out(address(g))) << "and none of its pages was touched";
  }

  std::vector<guide<bytes>> guides_;
  std::unique_ptr<heap::cold_reader> reader_;
  heap::arrived_reads arrived_;
};

}  // namespace isotherm::testing_help
