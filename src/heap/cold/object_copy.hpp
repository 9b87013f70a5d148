// A copy of an object of a logged COLD that a thread waits for.
#pragma once

#include <cstddef>
#include <expected>
#include <utility>

#include "heap/cold/read.hpp"

namespace isotherm::heap {

/// Move-only.
class object_copy {
 public:
  /// Reads an object that is out. Waits for the disk. Counts in cold_reads().
  /// Requires: the object is live, in a logged COLD, and was found in the scope that is open.
  /// Errors: an errno value, ENOMEM where there is no memory for it, EIO where the file does not
  /// hold the object.
  static std::expected<object_copy, int> read(const void* object) noexcept;

  const void* object() const noexcept { return object_; }
  /// Returns the size of the memory, which is that of the object's pages.
  std::size_t memory_bytes() const noexcept { return memory_bytes_; }
  /// Gives up the memory, for std::free().
  void* release() noexcept { return memory_.release(); }

 private:
  object_copy(page_memory memory, std::size_t memory_bytes, const void* object) noexcept
      : memory_(std::move(memory)), memory_bytes_(memory_bytes), object_(object) {}

  page_memory memory_;
  std::size_t memory_bytes_;
  const void* object_;
};

}  // namespace isotherm::heap
