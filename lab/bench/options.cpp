#include "lab/bench/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "base/numbers.hpp"
#include "os/entropy.hpp"

namespace isotherm::lab {
namespace {

base::result<void> one_of(std::string_view flag, std::string_view given,
                          std::initializer_list<std::string_view> allowed) {
  if (std::ranges::find(allowed, given) != allowed.end()) return {};
  return std::unexpected(base::error{
      fmt::format("{} must be one of {}, not '{}'", flag, fmt::join(allowed, "|"), given)});
}

base::result<void> in_range(std::string_view flag, double given, double least, double greatest) {
  if (given >= least && given <= greatest) return {};
  return std::unexpected(
      base::error{fmt::format("{} must be {} to {}, not {}", flag, least, greatest, given)});
}

base::result<void> check_numbers(const bench_options& asked) {
  constexpr double kWeek = 7 * 86400;
  const std::array checks{
      in_range("--keys", static_cast<double>(asked.keys), 1, 1e10),
      in_range("--threads", asked.threads, 1, 1024),
      in_range("--theta", asked.theta, 0.01, 10),
      in_range("--hotspot-keys", asked.hotspot_keys, 0, 1),
      in_range("--hotspot-accesses", asked.hotspot_accesses, 0, 1),
      in_range("--exponential-keys", asked.exponential_keys, 1e-6, 1e6),
      in_range("--exponential-accesses", asked.exponential_accesses, 1e-6, 0.999999),
      in_range("--ttl", asked.ttl, 0, kWeek),
      in_range("--rate", asked.rate, 0, 1e9),
      in_range("--seconds", asked.seconds, 0.001, kWeek),
      in_range("--warmup", asked.warmup, 0, kWeek),
      one_of("--manage", asked.manage, {"on", "off", "track"}),
  };
  for (const auto& check : checks) {
    if (!check) return check;
  }
  return {};
}

base::result<workload::record_format> format_of(const bench_options& asked) {
  workload::record_format format{.key_size = asked.key_size,
                                 .value_size = asked.value_size,
                                 .ttl_ms = static_cast<std::uint64_t>(std::ceil(asked.ttl * 1e3))};
  if (asked.least_value_size) format.least_value_size = *asked.least_value_size;
  if (!asked.value_sizes.empty()) {
    const auto sizes = workload::parse_value_sizes(asked.value_sizes);
    if (!sizes) return std::unexpected(sizes.error());
    format.sizes = *sizes;
  } else if (asked.least_value_size) {
    format.sizes = workload::value_sizes::uniform;
  }
  if (format.sizes == workload::value_sizes::constant) {
    if (asked.least_value_size) {
      return std::unexpected(base::error{"--value-sizes constant takes one --value-size"});
    }
    format.least_value_size = format.value_size;
  }
  if (auto sizes = format.check(); !sizes) return std::unexpected(sizes.error());
  return format;
}

}  // namespace

base::result<void> read_value_size(const std::string& text, bench_options& asked) {
  const std::size_t dots = text.find("..");
  const bool is_range = dots != std::string::npos;
  const auto greatest = base::parse_number<std::size_t>(is_range ? text.substr(dots + 2) : text);
  const auto least = base::parse_number<std::size_t>(text.substr(0, dots));
  if (!greatest || !least) {
    return std::unexpected(base::error{
        fmt::format("--value-size must be bytes, as in 1024 or 100..1000, not '{}'", text)});
  }
  asked.value_size = *greatest;
  asked.least_value_size = is_range ? least : std::nullopt;
  return {};
}

double seconds_left(const bench_plan& plan, const workload::progress& now) noexcept {
  const double done = now.seconds + (now.is_warmup ? 0 : plan.asked.warmup);
  return plan.asked.warmup + plan.asked.seconds - done;
}

std::uint64_t drawn_seed() {
  std::uint32_t seed = 0;
  os::fill_with_entropy(std::as_writable_bytes(std::span(&seed, 1)));
  return seed;
}

base::result<bench_plan> understand(const bench_options& asked) {
  bench_plan plan{.asked = asked, .load = {}, .format = {}};
  plan.asked.collector.manage = asked.manage == "on" ? collector::mode::on : collector::mode::track;
  if (auto numbers = check_numbers(asked); !numbers) return std::unexpected(numbers.error());
  const auto format = format_of(asked);
  if (!format) return std::unexpected(format.error());
  plan.format = *format;
  if (!asked.used.empty() && asked.connect.empty()) {
    return std::unexpected(base::error{"--used goes with --connect"});
  }
  const auto workload = workload::parse_workload(asked.workload);
  if (!workload) return std::unexpected(workload.error());
  plan.load.workload = *workload;
  plan.load.keys_by = {.which = workload->keys,
                       .theta = asked.theta,
                       .hotspot_keys = asked.hotspot_keys,
                       .hotspot_accesses = asked.hotspot_accesses,
                       .exponential_keys = asked.exponential_keys,
                       .exponential_accesses = asked.exponential_accesses};
  if (!asked.distribution.empty()) {
    const auto which = workload::parse_distribution(asked.distribution);
    if (!which) return std::unexpected(which.error());
    plan.load.keys_by.which = *which;
  }
  if (!asked.mix.empty()) {
    const auto shares = workload::parse_mix(asked.mix);
    if (!shares) return std::unexpected(shares.error());
    if (shares->scan > 0 && shares->incr > 0) {
      return std::unexpected(base::error{"--mix: a scan would meet the counters of incr"});
    }
    plan.load.workload.shares = *shares;
  }
  plan.load.keys = asked.keys;
  plan.load.threads = asked.threads;
  plan.load.rate = asked.rate;
  plan.load.seconds = asked.seconds;
  plan.load.warmup_seconds = asked.warmup;
  plan.load.seed = asked.seed ? *asked.seed : drawn_seed();
  return plan;
}

}  // namespace isotherm::lab
