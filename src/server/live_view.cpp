#include "server/live_view.hpp"

#include <algorithm>

#include "server/figures.hpp"
#include "server/server.hpp"

namespace isotherm::server {

live::snapshot live_view::look() {
  live::snapshot seen = process_view::look();
  seen.facts.emplace_back("index", server_.db().index().name());
  if (server_.manager()) {
    const auto problem =
        std::ranges::find(seen.facts, "problem", &decltype(seen.facts)::value_type::first);
    if (problem != seen.facts.end()) problem->second = server_.manager()->problem();
  }
  for (const server_figure& each : server_figures()) {
    seen.figures.push_back({each.name, each.unit, each.help, each.over_time, each.get(server_)});
  }
  return seen;
}

base::result<void> live_view::configure(std::string_view name, std::string_view value) {
  if (!server_.manager()) return process_view::configure(name, value);
  return server_.manager()->configure(name, value);
}

}  // namespace isotherm::server
