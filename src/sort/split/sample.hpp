// Records from even places of an input.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "sort/plan/context.hpp"
#include "sort/scan/record_in_memory.hpp"

namespace isotherm::sort {

/// Copies of records. Owned by one thread.
class record_copies {
 public:
  void add(const record_in_memory& r);
  /// Puts the records into the order of `layout`; equal ones keep the order of their places.
  void sort(const record_layout& layout);
  const std::vector<record_in_memory>& records() const noexcept { return records_; }
  std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  std::deque<std::vector<std::byte>> memory_;
  std::vector<record_in_memory> records_;
  std::uint64_t bytes_ = 0;  // of memory_
};

/// Returns `wanted` records from even places of the input, in order; all, if there are no more. A
/// sample of lines takes those behind even bytes: never the first of more than one, and rather such
/// as follow long ones. Errors, also a sample of more than `room_bytes` and a record that is cut,
/// become the job's.
record_copies sample_of(const context& ctx, std::uint64_t wanted, std::uint64_t room_bytes);

/// Returns all records of the input, in its order. Errors as those of sample_of().
record_copies all_records(const context& ctx, std::uint64_t room_bytes);

}  // namespace isotherm::sort
