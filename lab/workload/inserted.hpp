// Numbers for new records, and how far all of them are there: a reader of the latest keys must not
// ask for one whose insert is still on its way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/atomic.hpp"

namespace isotherm::workload {

/// Gives numbers out. Thread-safe; each thread has its own index.
class inserted_keys {
 public:
  inserted_keys(std::uint64_t loaded, unsigned threads) : next_(loaded), underway_(threads) {
    for (auto& slot : underway_) slot.value.store_relaxed(kNone);
  }

  /// Number of the record that this thread inserts now.
  std::uint64_t begin(unsigned thread) noexcept {
    // The lower bound stands in the slot before the number is taken, so that complete() never sees
    // the number given out but the slot empty (sequentially consistent on both sides).
    underway_[thread].value.store_seq_cst(next_.load_seq_cst());
    const std::uint64_t number = next_.fetch_add_seq_cst(1);
    underway_[thread].value.store_seq_cst(number);
    return number;
  }
  /// This thread's insert is done.
  void end(unsigned thread) noexcept { underway_[thread].value.store_seq_cst(kNone); }

  /// All records below this number are there.
  std::uint64_t complete() const noexcept {
    std::uint64_t limit = next_.load_seq_cst();
    for (const auto& slot : underway_) limit = std::min(limit, slot.value.load_seq_cst());
    return limit;
  }

 private:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  base::atomic<std::uint64_t> next_;
  std::vector<base::apart<base::atomic<std::uint64_t>>> underway_;
};

}  // namespace isotherm::workload
