// The interface between the sorter and its algorithms. The variants of the index sort are the rows
// of a table (sort/index_sort/variants.hpp). Each of the other algorithms is a file in this folder
// that ends with its descriptor. registry.cpp lists them all. No other code depends on which
// algorithm runs, except the choice that `automatic` makes (sort/choice.cpp) and the report of the
// outcome.
#pragma once

#include <string>
#include <string_view>

#include "os/files/file.hpp"
#include "sort/cost/cost.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

struct algorithm {
  sort_algorithm id;
  std::string_view name;  ///< for --algorithm and in reports
  bool candidate;  ///< whether `auto` may take it on an emulated device, if the model finds it
                   ///< cheapest

  /// Refuses options that this algorithm does not support.
  base::result<void> (*check)(const sort_options& o);
  /// The properties that plans are made from: memory and threads are shared out in one place
  /// (plan.cpp), so that every algorithm keeps the limit.
  approach way;
  /// Why it cannot sort `records` records by this plan; empty if it can.
  std::string (*obstacle)(const plan& p, double records);
  /// Its time by the cost model. Requires: the device is emulated.
  prediction (*predict)(const plan& p, const sort_options& o, const facts& known);
  /// The most bytes that its temporary files take at any time.
  std::uint64_t (*temporary_bytes)(const plan& p, const sort_options& o, std::uint64_t input_bytes,
                                   std::uint64_t records);
  /// Sorts the input into `out`. Errors become the job's.
  outcome (*run)(const context& ctx, const os::file& out);
};

/// Checks that algorithms share. The first takes all options; the second only what the papers
/// compare algorithms by, fixed records that are all written.
base::result<void> take_all_options(const sort_options& o);
base::result<void> take_whole_fixed_records(const sort_options& o);

}  // namespace isotherm::sort
