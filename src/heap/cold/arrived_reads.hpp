// Reads of COLD that an operation has asked for, looked up by the pages of an object.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>

#include "heap/cold/read.hpp"

namespace isotherm::heap {

/// Whether this process has made the pages of a live object leave DRAM; false for an object outside
/// of COLD. The answer may be wrong where the system moves pages by itself (packed/extent.hpp). Any
/// thread.
bool is_out(const void* object) noexcept;

/// Reads that were asked for a thread; those that have ended are found. Not thread-safe.
class arrived_reads {
 public:
  using read = std::shared_ptr<const cold_read>;

  /// Also looks in `others`, which must outlive it.
  explicit arrived_reads(const arrived_reads* others = nullptr) noexcept : others_(others) {}
  arrived_reads(const arrived_reads&) = delete;
  arrived_reads& operator=(const arrived_reads&) = delete;

  /// False where it was added before.
  bool add(const read& asked);
  /// A read that has ended of an object's pages, or null. A cancelled read is not found: no thread
  /// has read its pages, and the object is missed again. Constant time, as a rule.
  read find(const base::page_span& where) const noexcept;
  /// A read of these pages among those that were added here, ended or not; null where there is
  /// none, or was cancelled.
  read asked_for(const base::page_span& where) const noexcept;
  void remove(const read& added) noexcept;
  /// Gives back the memory of more than a few reads.
  void clear() noexcept;
  bool is_empty() const noexcept {
    return reads_.empty() && (others_ == nullptr || others_->is_empty());
  }

 private:
  const arrived_reads* const others_;
  std::unordered_multimap<std::uint64_t, read> reads_;  // by the offset of their pages
};

/// While one lives, uses of objects on its thread find an ended read of their pages: a fetcher
/// makes one around the function that waited for the read. They nest. A list of the thread's own,
/// as the function's uses of guides take a scope alone, and a failed read concerns no other thread.
class handed_over {
 public:
  explicit handed_over(const arrived_reads::read& ended) noexcept
      : read_(ended), outer_(std::exchange(innermost, this)) {}
  ~handed_over() { innermost = outer_; }
  handed_over(const handed_over&) = delete;
  handed_over& operator=(const handed_over&) = delete;

  /// Returns a read of all of these pages that is handed over to this thread; null where none is.
  static arrived_reads::read find(const base::page_span& where) noexcept;
  static bool is_any() noexcept { return innermost != nullptr; }

 private:
  static constinit thread_local const handed_over* innermost
      __attribute__((tls_model("initial-exec")));

  const arrived_reads::read read_;
  const handed_over* const outer_;
};

}  // namespace isotherm::heap
