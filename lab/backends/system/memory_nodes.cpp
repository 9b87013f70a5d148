#include "lab/backends/system/memory_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <sstream>
#include <string_view>

#include "base/numbers.hpp"
#include "base/page.hpp"
#include "lab/backends/system/system_changes.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {

std::vector<unsigned> parse_nodes(const std::string& list) {
  std::vector<unsigned> nodes;
  for (const auto part : std::views::split(list, ',')) {
    const std::string_view range(part);
    const std::size_t dash = range.find('-');
    const auto first = base::parse_number<unsigned>(range.substr(0, dash));
    const auto last =
        dash == range.npos ? first : base::parse_number<unsigned>(range.substr(dash + 1));
    if (!first || !last) continue;
    for (unsigned node = *first; node <= *last; ++node) nodes.push_back(node);
  }
  return nodes;
}

memory_nodes find_memory_nodes() {
  const std::string folder = "/sys/devices/system/node/";
  const auto with_processors = parse_nodes(read_text(folder + "has_cpu"));
  memory_nodes found;
  for (const unsigned node : parse_nodes(read_text(folder + "has_memory"))) {
    const bool is_fast = std::ranges::count(with_processors, node) > 0;
    (is_fast ? found.fast : found.slow).push_back(node);
  }
  return found;
}

std::optional<physical_range> physical_memory_of(unsigned node, const std::string& zones) {
  std::optional<physical_range> found;
  const std::string begin_of_zone = fmt::format("Node {}, zone", node);
  for (std::size_t at = zones.find(begin_of_zone); at != zones.npos;
       at = zones.find(begin_of_zone, at + 1)) {
    const std::string zone = zones.substr(at, zones.find("\nNode ", at) - at);
    const auto first = os::number_after(zone, "start_pfn:");
    const auto pages = os::number_after(zone, " spanned ");
    if (!first || pages.value_or(0) == 0) continue;
    const physical_range range{*first * base::kPageBytes, (*first + *pages) * base::kPageBytes};
    found =
        found ? physical_range{std::min(found->begin, range.begin), std::max(found->end, range.end)}
              : range;
  }
  return found;
}

}  // namespace isotherm::lab
