#include "sort/examine.hpp"

#include <algorithm>

#include "sort/cost/processor.hpp"
#include "sort/input/records.hpp"

namespace isotherm::sort {

base::result<facts> examine(const source& input, const sort_options& options, const devices& on) {
  const auto records = estimate_records(input, options);
  if (!records) return std::unexpected(records.error());
  const double mean =
      static_cast<double>(input.size()) / static_cast<double>(std::max<std::uint64_t>(1, *records));
  const input_facts in{input.size(), *records, std::max(1.0, mean)};
  const auto speed = on.emulation() != nullptr ? measure_processor(input, in) : processor_speed{};
  facts known = facts_of(in, on.numbers());  // after the measurement, which takes address space
  known.directories = on.directories();
  known.processor = speed;
  return known;
}

}  // namespace isotherm::sort
