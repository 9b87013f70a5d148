// COLD in a file, for a whole test program, and objects there that have left DRAM.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "heap/cold/arrived_reads.hpp"
#include "heap/configure.hpp"
#include "heap/object.hpp"
#include "heap/ranges.hpp"
#include "heap/temporary_directory.hpp"
#include "heap/truncate_cold.hpp"
#include "heap/upkeep.hpp"
#include "sync/retire.hpp"

namespace isotherm::testing_help {

inline constexpr std::size_t kColdRangeBytes = std::size_t{256} << 20;

/// Configures the heaps once in a process; returns the directory that the file was made in.
inline const std::string& cold_in_a_file() {
  static const std::string path = [] {
    const temporary_directory directory;
    heap::options chosen;
    chosen.range_bytes = kColdRangeBytes;
    chosen.cold = *heap::cold_backing::parse("file:" + directory.path());
    chosen.cold_reads.leaves_within = std::chrono::seconds(2);  // tests wait for all of it
    const auto configured = heap::configure(chosen);
    EXPECT_TRUE(configured) << configured.error().message;
    return directory.path();
  }();
  return path;
}

/// Makes all closed extents of COLD leave. Their memory ends, unless a scope is open: a touch of it
/// is a fault then.
inline void page_out_all() {
  EXPECT_EQ(heap::page_out_cold(heap::hint::pageout, ~std::uint64_t{0}).problem, "");
  sync::reclaim_ready();
}

/// Closes the extents that take objects of COLD now, so that they can leave.
inline void close_cold_extents() {
  for (const std::size_t bytes : {std::size_t{100}, std::size_t{4000}}) {
    const auto number = [](const void* object) {
      return reinterpret_cast<std::uintptr_t>(object) / heap::kExtentBytes;
    };
    std::vector<void*> filling{heap::allocate(heap::kind::cold, bytes)};
    while (number(filling.front()) == number(filling.back())) {
      filling.push_back(heap::allocate(heap::kind::cold, bytes));
      ASSERT_NE(filling.back(), nullptr);
    }
    for (void* each : filling) heap::deallocate(each);
  }
}

/// Returns the offset of an object in COLD.
inline std::uint64_t cold_offset_of(const void* object) {
  return reinterpret_cast<std::uintptr_t>(object) - heap::range_of(heap::kind::cold).begin;
}

}  // namespace isotherm::testing_help
