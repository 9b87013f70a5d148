// When compressing the runs of an index map pays (dissertation 7.2.2): when the saved bytes would
// take the device longer than coding the entries takes the processor.
#pragma once

#include <span>

#include "sort/coding/codec.hpp"

namespace isotherm::sort {

/// Cost of compressing one entry, on one thread.
struct coding_cost {
  double bytes = 0;  ///< of the compressed entry
  double encode_ns = 0;
  double decode_ns = 0;
};
/// Measures the cost on some blocks of a sorted run, which must not be empty.
coding_cost measure_coding(const entry_layout& l, std::span<const entry> sorted);

/// Bytes/s of the emulated device that holds the runs; 0: there is none.
struct run_speeds {
  double write = 0;
  double read = 0;
};

/// The time that compressing saves and costs for one entry that is written once and read once.
struct coding_balance {
  double saved_ns = 0;  ///< time of the device
  double spent_ns = 0;  ///< time of the processor
  bool pays() const noexcept { return saved_ns > spent_ns; }
};
/// `plain_bytes`: size of an uncompressed entry. All writers encode at once; one thread decodes.
coding_balance balance_of(double plain_bytes, const coding_cost& c, const run_speeds& s,
                          unsigned write_threads) noexcept;

}  // namespace isotherm::sort
