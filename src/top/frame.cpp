#include "top/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace isotherm::top {
namespace {

constexpr std::size_t kMostObservations = 1024;
constexpr std::size_t kLeastColumns = 40, kLeastMapRows = 3;
constexpr std::size_t kLabelColumns = 12;

constexpr rgb kFast{0, 158, 115}, kNotice{230, 159, 0}, kQuiet{140, 140, 140};

std::string count_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 3> kUnits{
      {{1e9, " G"}, {1e6, " M"}, {1e3, " k"}}};
  for (const auto& [size, unit] : kUnits) {
    if (value >= 10 * size) return fmt::format("{:.1f}{}", value / size, unit);
  }
  return fmt::format("{:.0f}", value);
}

std::string size_text(double bytes) {
  return bytes < 10 * (1 << 20) ? fmt::format("{:.1f} MiB", bytes / (1 << 20))
                                : fmt::format("{:.0f} MiB", bytes / (1 << 20));
}

std::string percent_text(double share) { return fmt::format("{:.1f}%", share * 100); }

double last_of(const std::vector<double>& values) { return values.empty() ? 0 : values.back(); }

/// One statistic over time: a label, a curve, and words about its last value.
struct row {
  std::string label;
  std::vector<double> values;
  std::string says;
  double top = 0;  ///< what the values are measured by; 0: nothing
};

std::string dram_text(const observation& seen) {
  const double target = seen.number("memory_target_bytes");
  const std::string now = size_text(seen.number("dram_bytes"));
  return target > 0 ? now + " of " + size_text(target) + " target" : now + ", no target";
}

/// Which objects stay: what the promotion rate and a threshold say of it, or an object's worth.
std::vector<row> policy_rows(const history& seen) {
  const observation& last = seen.last();
  const std::string rate = percent_text(last.number("promotion_rate")) + " a minute";
  if (!last.has_threshold()) {
    return {{"promotion", seen.curve("promotion_rate"), rate},
            {"kept", seen.curve("kept_rate"),
             fmt::format("from {:.4g} uses a window on, for each page", last.number("kept_rate"))}};
  }
  const double target = last.setting("target-promotion-rate");
  return {{"promotion", seen.curve("promotion_rate"), rate + ", target " + percent_text(target),
           target},
          {"threshold", seen.curve("cold_threshold"),
           fmt::format("{:.0f} windows without use", last.number("cold_threshold"))}};
}

std::string replies_text(const observation& seen) {
  return fmt::format("in the server p50 {:.0f} us, p99 {:.0f} us", seen.number("reply_p50_us"),
                     seen.number("reply_p99_us"));
}

std::string rate_text(double per_second, const char* unit) {
  return std::isfinite(per_second) ? count_text(per_second) + unit + "/s" : "not known yet";
}

std::string misses_text(const observation& seen, double per_second) {
  return rate_text(per_second, "") + fmt::format(", reads p50 {:.0f} us, p99 {:.0f} us",
                                                 seen.number("cold_read_p50_us"),
                                                 seen.number("cold_read_p99_us"));
}

std::string moves_text(const observation& seen) {
  return fmt::format("{} to HOT, {} to COLD, {} vetoed, {} failed",
                     count_text(seen.number("promoted_objects")),
                     count_text(seen.number("demoted_objects")), count_text(seen.number("vetoed")),
                     count_text(seen.number("failed")));
}

std::vector<row> rows_of(const history& seen) {
  const observation& last = seen.last();
  const auto operations = seen.rate("commands");
  std::vector<row> rows{
      {"DRAM", seen.curve("dram_bytes"), dram_text(last), last.number("memory_target_bytes")},
      {"throughput", operations, rate_text(last_of(operations), " commands")},
      {"replies", seen.curve("reply_p99_us"), replies_text(last)},
  };
  if (!last.is_managed()) return rows;
  const auto misses = seen.rate("cold_misses");
  rows.push_back({"utilization", seen.curve("page_utilization"),
                  percent_text(last.number("page_utilization")) + " of the bytes of pages in use",
                  1});
  std::ranges::move(policy_rows(seen), std::back_inserter(rows));
  rows.push_back({"misses", misses, misses_text(last, last_of(misses))});
  rows.push_back({"moves", seen.curve("promoted_objects"), moves_text(last)});
  return rows;
}

/// Cut to so many characters; the text has no escape sequences.
std::string cut(const std::string& text, std::size_t columns) {
  std::size_t at = 0, characters = 0;
  while (at < text.size() && characters < columns) {
    ++at;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80) ++at;
    ++characters;
  }
  return text.substr(0, at);
}

std::string row_line(const text_style& style, const row& one, std::size_t columns) {
  const std::size_t curve = std::clamp<std::size_t>(columns / 4, 8, 60);
  const std::string label = cut(fmt::format("{:<{}}", one.label, kLabelColumns), kLabelColumns);
  const std::size_t left = columns - std::min(columns, kLabelColumns + curve + 2);
  return label + coloured(style, kFast, sparkline(style, one.values, curve, one.top)) + "  " +
         cut(one.says, left);
}

std::string title_of(const history& seen) {
  const observation& last = seen.last();
  std::string text =
      fmt::format("isotherm top  {}  {}  manage {}  {} keys", seen.server(), last.text("index"),
                  last.text("manage"), count_text(last.number("keys")));
  if (last.is_managed()) {
    text += fmt::format("  window {:.0f} of {:.3g} s", last.number("window"),
                        last.number("window_seconds"));
  }
  return text;
}

std::string heading_of(const heap_place& place) {
  std::string name = place.heap->name;
  std::ranges::transform(name, name.begin(), [](char c) { return c - 'a' + 'A'; });
  const auto bytes = static_cast<double>(place.heap->extent_bytes);
  const auto resident = static_cast<double>(place.heap->resident_bytes);
  const double share = bytes > 0 ? std::min(resident / bytes, 1.0) : 0;
  return cut(
      fmt::format("{:<{}}", fmt::format("{} {} {:.0f}%", name, size_text(bytes), share * 100),
                  place.width),
      place.width);
}

std::string legend_of(const text_style& style, std::uint64_t pages) {
  const char* const how = style.shown_in == text_style::colours::indexed
                              ? "lit: in DRAM (%), dark: out or given back"
                          : style.drawn_with == text_style::letters::blocks
                              ? "filled: in DRAM (%), dots: out or given back"
                              : "from '.' out or given back to '#' in DRAM (%)";
  return fmt::format("{}; a dot is {} page{}; q quits", how, pages, pages == 1 ? "" : "s");
}

void add_map(const history& seen, const text_style& style, window_size size,
             std::vector<std::string>& lines) {
  constexpr std::size_t kAround = 2;  // the headings and the legend
  if (size.rows < lines.size() + kAround + kLeastMapRows) return;
  const std::size_t rows = size.rows - lines.size() - kAround;
  const auto places = place_heaps(seen.last().heaps, size.columns);
  std::string headings;
  for (const heap_place& place : places) {
    if (!headings.empty()) headings += ' ';
    headings += coloured(style, colour_of_heap(place.heap->name), heading_of(place));
  }
  lines.push_back(headings);
  std::ranges::move(draw_heaps(style, places, rows), std::back_inserter(lines));
  lines.push_back(coloured(
      style, kQuiet, cut(legend_of(style, pages_per_dot(style, places, rows)), size.columns)));
}

}  // namespace

void history::add(observation seen) {
  last_ = seen;
  seen.heaps.clear();
  seen.configuration.clear();
  all_.push_back(std::move(seen));
  if (all_.size() > kMostObservations) all_.pop_front();
}

std::vector<double> history::curve(const std::string& name) const {
  std::vector<double> values;
  values.reserve(all_.size());
  for (const observation& each : all_) values.push_back(each.number(name));
  return values;
}

std::vector<double> history::rate(const std::string& name) const {
  std::vector<double> values;
  const observation* before = nullptr;
  for (const observation& each : all_) {
    double value = std::numeric_limits<double>::quiet_NaN();
    if (before && each.at_seconds > before->at_seconds) {
      double gained = each.number(name) - before->number(name);
      // Commands of this program itself are no load.
      if (name == "commands") {
        gained -= static_cast<double>(each.own_commands - before->own_commands);
      }
      value = std::max(0.0, gained) / (each.at_seconds - before->at_seconds);
    }
    values.push_back(value);
    before = &each;
  }
  return values;
}

std::vector<std::string> render(const history& seen, const text_style& style, window_size size) {
  std::vector<std::string> lines;
  if (size.columns < kLeastColumns) {
    lines.push_back(cut("make the window wider", size.columns));
    return lines;
  }
  lines.push_back(cut(title_of(seen), size.columns));
  if (const std::string problem = seen.last().text("problem"); !problem.empty()) {
    lines.push_back(coloured(style, kNotice, cut("problem: " + problem, size.columns)));
  }
  for (const row& one : rows_of(seen)) lines.push_back(row_line(style, one, size.columns));
  if (seen.last().is_managed()) {
    add_map(seen, style, size, lines);
  } else {
    lines.push_back(cut("no heaps: the server was started with --manage off", size.columns));
  }
  if (lines.size() > size.rows) lines.resize(size.rows);
  return lines;
}

}  // namespace isotherm::top
