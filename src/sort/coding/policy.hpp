// When compressing the runs of an index map pays (dissertation 7.2.2): when the device would take
// longer for the bytes that are saved than the processor takes to code the entries.
#pragma once

#include <span>

#include "sort/coding/codec.hpp"

namespace isotherm::sort {

/// What compressing takes for each entry, on one thread.
struct coding_cost {
  double bytes = 0;  ///< that the entry has when compressed
  double encode_ns = 0;
  double decode_ns = 0;
};
/// Measured on some blocks of a sorted run, which must not be empty.
coding_cost measure_coding(const entry_layout& l, std::span<const entry> sorted);

/// Bytes/s of the emulated device that holds the runs; 0: there is none.
struct run_speeds {
  double write = 0;
  double read = 0;
};

/// Time for one entry that a run writes once and reads once.
struct coding_balance {
  double saved_ns = 0;  ///< of the device
  double spent_ns = 0;  ///< of the processor
  bool pays() const noexcept { return saved_ns > spent_ns; }
};
/// `plain_bytes`: of an entry that is not compressed. Writers code side by side, the merge alone.
coding_balance balance_of(double plain_bytes, const coding_cost& c, const run_speeds& s,
                          unsigned write_threads) noexcept;

}  // namespace isotherm::sort
