// What predictions need to know of an input, and of the processor that sorts it.
#pragma once

#include "sort/coding/policy.hpp"
#include "sort/input/source.hpp"

namespace isotherm::sort {

struct input_facts {
  std::uint64_t bytes = 0;
  double record_bytes = 100;  ///< on average; of klv and lines from a sample
};
/// Finds the facts of `input`.
base::result<input_facts> examine(const source& input, const sort_options& options);

/// Speed of this processor, as measure_processor() finds it.
struct processor_speed {
  double sort_ns = 0;          ///< to sort one entry, on one thread
  double merge_entry_ns = 0;   ///< to merge one entry of an index map
  double merge_record_ns = 0;  ///< to merge one whole record
  coding_cost coding;          ///< of a run of random keys
  double call_ns = 0;          ///< of a call that reads a record
};
/// Measures the speed for a sort of `input`, which has these facts.
processor_speed measure_processor(const source& input, const input_facts& facts);

}  // namespace isotherm::sort
