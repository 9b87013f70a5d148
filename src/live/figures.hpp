// The figures that a process shows at one moment, read through the tables of the parts that count
// them: in the format of the page, and in that of /metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/figure.hpp"
#include "collector/statistics.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/usage.hpp"

namespace isotherm::live {

/// A figure with its value.
struct shown_figure : base::figure {
  std::variant<std::uint64_t, double> value;
  /// Sum over all windows of a figure of the last window. /metrics shows it in the figure's place,
  /// so that a scraper does not miss the windows between two visits.
  std::optional<double> total{};
};

/// Times that were counted in buckets.
struct duration_histogram {
  std::string_view name, help;  ///< the first as of a metric, without "isotherm_" and unit
  /// Each: the end of a bucket in microseconds, and the number of times up to it since the start.
  std::vector<std::pair<double, std::uint64_t>> up_to;
  double sum_us;
};

/// Everything that a process shows at one moment.
struct snapshot {
  std::vector<std::pair<std::string_view, std::string>> facts{};  ///< words: name and value
  std::vector<shown_figure> figures{};
  std::optional<heap::per_kind<heap::usage>> heaps{};  ///< none: the process has none
  std::optional<heap::cold_read_statistics> reads{};   ///< none: without heaps
  std::vector<duration_histogram> durations{};         ///< beside those of reads; for /metrics
};

/// Adds the figures of a table, read from `source`.
void add_figures(const auto& table, auto& source, std::vector<shown_figure>& figures) {
  for (const auto& each : table) figures.push_back({each, each.get(source)});
}
void add_window(const collector::window_statistics& last, std::vector<shown_figure>& figures);
void add_cold_reads(const heap::cold_read_statistics& now, snapshot& seen);

/// {"facts": {name: text}, "figures": {name: number}, "heaps": {heap: {name: number}},
/// "cold_read_waits": [count]}, in one line. In the last, the count at place b is of the reads that
/// took 2^b to 2^(b+1) - 1 microseconds, since the start.
std::string to_json(const snapshot& seen);

/// Returns the name of a figure in /metrics: "isotherm_" before its name, "_total" behind that of a
/// counter or a sum over windows, and seconds for microseconds. A name without a noun gets one.
std::string metric_name(const shown_figure& shown);
/// Prometheus' text format, version 0.0.4, with the usual metrics of a process beside the figures.
/// The facts are the labels of isotherm_info; the times of reads from COLD are the histogram
/// isotherm_cold_read_duration_seconds.
std::string to_metrics(const snapshot& seen);

}  // namespace isotherm::live
