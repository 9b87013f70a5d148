// Objects of COLD, which is a file, that have left DRAM, and readers of them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "heap/cold/cold_file.hpp"
#include "heap/cold/reader.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/header.hpp"
#include "os/faults.hpp"

namespace isotherm::testing_help {

using engine = os::read_queue::engine;

/// Objects of COLD of one size, each of other bytes, that have left DRAM.
class objects_out {
 public:
  objects_out(std::size_t count, std::size_t bytes) : bytes_(bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      void* const object = heap::allocate(heap::kind::cold, bytes);
      EXPECT_NE(object, nullptr);
      for (std::size_t k = 0; k < bytes; ++k) static_cast<unsigned char*>(object)[k] = byte(i, k);
      all_.push_back(object);
    }
    close_cold_extents();
    page_out_all();
    for (const void* each : all_) EXPECT_TRUE(heap::is_out(each));
  }
  ~objects_out() {
    for (void* each : all_) heap::deallocate(each);
  }
  objects_out(const objects_out&) = delete;
  objects_out& operator=(const objects_out&) = delete;

  std::size_t size() const { return all_.size(); }
  const void* operator[](std::size_t i) const { return all_[i]; }
  /// Whether `copy` is one of object `i`, with its header.
  bool is_copy(const void* copy, std::size_t i) const {
    if (copy == nullptr || heap::header_of(copy)->bytes != bytes_) return false;
    const auto* const at = static_cast<const unsigned char*>(copy);
    for (std::size_t k = 0; k < bytes_; ++k) {
      if (at[k] != byte(i, k)) return false;
    }
    return true;
  }

 private:
  static unsigned char byte(std::size_t i, std::size_t k) {
    return static_cast<unsigned char>(i * 13 + k * 7 + (k >> 8U));
  }
  std::size_t bytes_;
  std::vector<void*> all_;
};

inline std::unique_ptr<heap::cold_reader> make_reader(engine chosen = engine::best) {
  auto made = heap::cold_reader::make(chosen);
  EXPECT_TRUE(made) << made.error().message;
  return std::move(*made);
}

/// A fixture, of `Test` of GoogleTest's, whose tests leave no read under way.
template <class Test>
class with_readers : public Test {
 protected:
  static void SetUpTestSuite() { cold_in_a_file(); }
  ~with_readers() override {
    os::set_fault_hook({});
    EXPECT_EQ(heap::cold_reads().under_way, 0u);
    EXPECT_EQ(heap::cold_reads().unanswered, 0u);
    EXPECT_TRUE(heap::is_valid());
  }
};

/// 0, 1 and so on.
inline std::vector<std::uint64_t> tickets(std::size_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), std::uint64_t{0});
  return all;
}

/// Takes tickets until `count` have been told.
inline std::vector<std::uint64_t> take(heap::cold_reader& reader, std::size_t count) {
  std::vector<std::uint64_t> told;
  while (told.size() < count) {
    reader.wait(-1);
    reader.take_ended([&told](std::uint64_t ticket) { told.push_back(ticket); });
  }
  std::ranges::sort(told);
  return told;
}

}  // namespace isotherm::testing_help
