#include "cli/serve/cold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/fail.hpp"
#include "collector/policy/write_cost.hpp"
#include "device/model.hpp"
#include "device/profile.hpp"
#include "server/management/cold_place.hpp"

namespace isotherm::cli {
namespace {

collector::device_costs costs_of(const device::model& m) {
  constexpr std::uint64_t kSequential = 1 << 20, kObject = 4096;
  return {.write_bytes_per_second =
              m.bandwidth(device::access::write, device::best_streams(m.write), kSequential),
          .read_bytes_per_second = m.bandwidth(device::access::random_read,
                                               device::best_streams(m.random_read), kObject),
          .interference = std::min(m.interference, m.interference_most - 1)};
}

/// Reads the file that `isotherm device probe -o` wrote, or takes an emulated device ("emu:pmem").
base::result<collector::device_costs> load_device_costs(const std::string& profile) {
  if (profile.starts_with("emu:")) {
    const auto emulated = device::preset(profile);
    if (!emulated) return std::unexpected(emulated.error());
    return costs_of(*emulated);
  }
  const auto measured = device::load_profile(profile);
  if (!measured) return std::unexpected(measured.error());
  return costs_of(device::as_model(*measured));
}

/// Flags that a direct COLD takes, or does not.
void understand_direct(const command& described, serve_options& o) {
  const bool is_direct = o.cold.describe().is_direct;
  if (is_direct && described.was_given("--hint")) {
    refuse_words(
        fmt::format("--hint has no meaning with --cold-backing {}: objects leave DRAM as "
                    "they are moved there",
                    o.cold.text()));
  }
  if (o.hot_node && o.manage == "off") refuse_words("--hot-node needs --manage on or track");
  if (o.cold_profile.empty()) return;
  if (!is_direct) refuse_words("--cold-profile goes with --cold-backing node:N or dax:PATH");
  const auto costs = load_device_costs(o.cold_profile);
  if (!costs) refuse_words("--cold-profile: " + costs.error().message);
  o.collector.cold_device = *costs;
  const double budget = collector::write_budget(*costs);
  o.said_of_cold.push_back(fmt::format("writes to cold memory: {:.3g} MB/s at most, by {}",
                                       budget / 1e6, o.cold_profile));
}

}  // namespace

void place_cold(const command& described, serve_options& o) {
  if (o.cold_backing) {
    const auto cold = heap::cold_backing::parse(*o.cold_backing);
    if (!cold) refuse_words("--cold-backing: " + cold.error().message);
    o.cold = *cold;
  } else if (o.manage == "on") {
    auto found = heap::find_cold_place(heap::cold_directories());
    o.cold = found.backing;
    o.said_of_cold = std::move(found.refused);
  }
  understand_direct(described, o);
  const server::cold_room room = server::measure_cold_room(o.cold);
  if (!described.was_given("--hint") && !server::can_leave_dram(o.cold, room)) {
    o.collector.hint = heap::hint::none;
  }
  if (o.manage != "on") return;
  for (auto& line : server::describe(o.cold, room)) o.said_of_cold.push_back(std::move(line));
}

}  // namespace isotherm::cli
