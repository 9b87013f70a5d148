#include "lab/traces/generate/generator.hpp"

#include <fmt/format.h>

#include <iterator>

#include "lab/traces/generate/descriptors.hpp"

namespace isotherm::traces {

std::span<const generator> generators() noexcept {
  static const generator all[] = {kMixgraph, kCacheLib, kTwitter7, kTwitter23, kHotspotShift};
  return all;
}

base::result<std::unique_ptr<source>> generate(std::string_view name,
                                               const generate_options& asked) {
  std::string known;
  for (const generator& each : generators()) {
    if (each.name == name) return each.make(asked);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
  }
  return std::unexpected(base::error{fmt::format("no generator '{}': one of {}", name, known)});
}

base::result<bool> generated_source::next(request& to) {
  if (left_ == 0) return false;
  --left_;
  to = {};
  to.time_us = static_cast<std::uint64_t>(seconds_ * 1e6);
  draw(to);
  seconds_ += 1 / rate_at(seconds_);
  return true;
}

std::string_view generated_source::scattered(std::string_view prefix, std::uint64_t number) {
  key_.assign(prefix);
  fmt::format_to(std::back_inserter(key_), "{:016x}", base::mix64(number));
  return key_;
}

}  // namespace isotherm::traces
