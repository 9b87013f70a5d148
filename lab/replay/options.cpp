#include "lab/replay/options.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "lab/workload/record.hpp"

namespace isotherm::replay {

base::result<void> check(const replay_options& asked) {
  if (const auto plan = lab::understand(asked.bench); !plan) return std::unexpected(plan.error());
  if (asked.value_size > workload::record_format::kGreatestValue) {
    return std::unexpected(
        base::error{fmt::format("--value-size must be 0 to {} bytes, not {}",
                                workload::record_format::kGreatestValue, asked.value_size)});
  }
  if (asked.speed > 0 && asked.bench.rate > 0) {
    return std::unexpected(base::error{"--speed and --rate both time the requests: give one"});
  }
  std::error_code none;
  if (std::filesystem::exists(asked.trace, none) &&
      !std::filesystem::is_regular_file(asked.trace, none)) {
    return std::unexpected(base::error{
        fmt::format("{} is no regular file: a replay reads the trace several times", asked.trace)});
  }
  return {};
}

}  // namespace isotherm::replay
