// What the sorter asks of an algorithm. Each has a file of its own in this folder, which ends in
// its descriptor; registry.cpp lists these. Nothing else asks which algorithm it is, but the choice
// that automatic makes among them (sort/choice.cpp), and the report of what it came to.
#pragma once

#include <string>
#include <string_view>

#include "sort/cost/cost.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

struct algorithm {
  sort_algorithm id;
  std::string_view name;  ///< for --algorithm and in reports
  bool candidate;  ///< `auto` may take it on an emulated device, where the model finds it cheapest

  /// Refuses options that fit each other, but not this algorithm.
  base::result<void> (*check)(const sort_options& o);
  /// What plans are made of: memory and threads are shared out in one place (plan.cpp), so that
  /// the limit is kept whatever the algorithm.
  approach way;
  /// Why it can't sort so many records by this plan; empty if it can.
  std::string (*obstacle)(const plan& p, double records);
  /// What the cost model says.
  prediction (*predict)(const plan& p, const sort_options& o, const input_facts& input,
                        const device::model& device, const processor_speed& processor);
  /// The most that its temporary files take at a time.
  std::uint64_t (*temporary_bytes)(const plan& p, const sort_options& o, std::uint64_t input_bytes,
                                   std::uint64_t records);
  /// Sorts the input into `out`. Errors are the job's.
  outcome (*run)(const context& ctx, const device::file& out,
                 const std::string& temporary_directory);
};

/// Checks that algorithms share: one takes all options, one what the papers compare by.
base::result<void> take_all_options(const sort_options& o);
base::result<void> take_whole_fixed_records(const sort_options& o);

}  // namespace isotherm::sort
