#include "server/live_view.hpp"

#include <algorithm>

#include "server/figures.hpp"
#include "server/server.hpp"

namespace isotherm::server {

namespace {

/// A bucket for each power of two from about a microsecond on.
live::duration_histogram reply_durations(const server& of) {
  using buckets = reply_times::buckets;
  constexpr std::size_t kFirst = buckets::of(1023);
  const reply_counts counts = of.all_reply_times();
  live::duration_histogram told{.name = "reply_duration",
                                .help = "times of replies in the server, a pipeline as one",
                                .up_to = {},
                                .sum_us = static_cast<double>(counts.sum()) / 1e3};
  std::uint64_t seen = 0;
  for (std::size_t b = 0; b < buckets::kCount; ++b) {
    seen += counts.count(b);
    const bool is_told = b >= kFirst && (b - kFirst) % buckets::kHalf == 0;
    if (!is_told && b + 1 != buckets::kCount) continue;
    told.up_to.emplace_back(static_cast<double>(buckets::upper_of(b) + 1) / 1e3, seen);
  }
  return told;
}

}  // namespace

live::snapshot live_view::look() {
  live::snapshot seen = process_view::look();
  seen.facts.emplace_back("index", server_.db().index().name());
  if (server_.manager()) {
    const auto problem =
        std::ranges::find(seen.facts, "problem", &decltype(seen.facts)::value_type::first);
    if (problem != seen.facts.end()) problem->second = server_.manager()->problem();
  }
  seen.durations.push_back(reply_durations(server_));
  live::add_figures(server_figures(), server_, seen.figures);
  return seen;
}

base::result<void> live_view::configure(std::string_view name, std::string_view value) {
  if (!server_.manager()) return process_view::configure(name, value);
  return server_.manager()->configure(name, value);
}

}  // namespace isotherm::server
