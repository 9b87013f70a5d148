// An extent table over a range of its own, beside the process's heaps.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "heap/packed/backing.hpp"
#include "heap/packed/extent_table.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::testing_help {

/// Memory that calls itself a log on a disk, and may be full.
class disk_of_memory final : public heap::backing {
 public:
  explicit disk_of_memory(std::size_t bytes) : room_bytes_(bytes) {}

  bool is_logged() const noexcept override { return true; }
  std::string why_pages_stay() const override { return {}; }
  std::string place() const override { return "a test"; }
  base::result<void> take(std::size_t offset, std::size_t bytes) override {
    taken_bytes += bytes;
    if (taken_bytes > room_bytes_) return std::unexpected(base::error{"full", ENOSPC});
    return backing::take(offset, bytes);
  }
  void give_back(std::size_t, std::size_t bytes) const noexcept override {
    taken_bytes -= bytes;
    if (when_given_back) when_given_back();
  }

  mutable std::size_t taken_bytes = 0;
  std::function<void()> when_given_back;

 private:
  const std::size_t room_bytes_;
};

/// Opens a table of `extents` extents.
inline void open(heap::extent_table& table, std::size_t extents,
                 std::unique_ptr<heap::backing> pages) {
  const std::size_t bytes = extents * heap::kExtentBytes;
  const auto begin = os::reserve(bytes, heap::kExtentBytes);
  ASSERT_TRUE(begin);
  ASSERT_TRUE(table.open(*begin, bytes, std::move(pages)));
}

/// Takes neighbours where there are some.
inline std::size_t take(heap::extent_table& table, std::size_t count) {
  const auto first = table.acquire(count);
  EXPECT_TRUE(first);
  return first.value_or(0);
}

/// Ends the life of the object of a run.
inline void empty(heap::extent_table& table, std::size_t first) {
  table.row(first).word.store_release(heap::extent_word::kClosed);
}

}  // namespace isotherm::testing_help
