// When compressing the runs of an index map pays (dissertation 7.2.2): when the device would take
// longer for the bytes that are saved than the processor takes to code the entries.
#pragma once

#include <isotherm/sort.hpp>

#include "device/io.hpp"
#include "sort/runs/codec.hpp"

namespace isotherm::sort {

/// What compressing takes for each entry, on one thread.
struct coding_cost {
  double bytes = 0;  ///< that the entry has when compressed
  double encode_ns = 0;
  double decode_ns = 0;
};
/// Measured on some blocks of a sorted run, which must not be empty.
coding_cost measure_coding(const entry_layout& l, std::span<const entry> sorted);

/// Bytes/s of the device that holds the runs; 0: as good as free.
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

/// Entries of some records, and what they make of a block.
struct entry_sample {
  std::size_t entries = 0;
  block_shape shape;
};
/// Reads the keys of some records: fixed ones and lines from all over the input, klv from its
/// beginning, as only there one begins for sure.
base::result<entry_sample> sample_entries(const device::file& input, const sort_options& options);

/// Bytes of a compressed entry in a run of `run_entries` of an input of `positions` records (fixed)
/// or bytes, as far as a sample tells: the denser the keys, the smaller their differences.
double coded_bytes(const entry_sample& sample, double run_entries, double positions) noexcept;

}  // namespace isotherm::sort
