// The predicted time of a sort by an index map on an emulated device.
#pragma once

#include "sort/cost/cost.hpp"

namespace isotherm::sort {

/// The predicted runs of an index map.
struct run_forecast {
  double runs = 0;          ///< 0: the index map fits in memory
  double entry_passes = 1;  ///< how often each entry is written and read
  double plain_bytes = 0;   ///< of an entry, uncompressed
  double coded_bytes = 0;   ///< of an entry, compressed
  coding_balance balance;   ///< of one entry, written and read once
  bool compressed = false;
};
run_forecast forecast_runs(const plan& p, const sort_options& options, const facts& known);

prediction predict_index_sort(const plan& p, const sort_options& options, const facts& known);

}  // namespace isotherm::sort
