// What a run found, as one JSON object and as a table; and the line that shows it going.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collector/statistics.hpp"
#include "harness/bench/options.hpp"
#include "heap/usage.hpp"
#include "workload/driver.hpp"
#include "workload/touched.hpp"

namespace isotherm::harness {

/// What the driver did in a time, in a hundred bytes.
struct driven_summary {
  std::uint64_t operations = 0;
  std::uint64_t waited = 0;        ///< of them, those that waited for a page
  std::uint64_t major_faults = 0;  ///< pages that they waited for
  struct {
    double p50 = 0, p90 = 0, p99 = 0, p999 = 0, mean = 0, max = 0;
  } latency_us;  ///< quantiles, mean and greatest
};
driven_summary summary_of(const workload::tally& sums);
/// Share of the requests that waited for a page.
double miss_ratio_of(const driven_summary& driven) noexcept;

/// The memory of the store at the end of a window. What a target cannot tell is absent.
struct window_sample {
  double at_seconds = 0;  ///< since the warm-up began
  double seconds = 0;     ///< length of the window
  bool is_warmup = false;
  driven_summary driven;  ///< in the window
  std::uint64_t rss_bytes = 0;
  std::uint64_t rss_peak_bytes = 0;
  std::uint64_t dram_bytes = 0;
  std::uint64_t ideal_bytes = 0;
  std::uint64_t used_bytes = 0;  ///< bytes of the objects that the driver used in the window
  unsigned cold_threshold = 0;   ///< the collector's, or as asked for
  std::optional<double> page_utilization;
  std::optional<collector::window_statistics> seen;  ///< by the collector
  std::optional<heap::per_kind<heap::usage>> heaps;
};

/// Memory of a managed index after the load, keys and values left out, in bytes an entry.
struct entry_cost {
  double nodes = 0;   ///< of the NODE heap as it rounds them, guides included
  double guides = 0;  ///< of which guides
  double soda = 0;    ///< the bitmap of guides
};

/// A finished run.
struct bench_result {
  workload::outcome driven;
  std::vector<window_sample> windows;  ///< at least one; the last is the state at the end
  std::string index;                   ///< name of the index, or of the server's
  std::string manage;
  double load_seconds = 0;
  std::optional<entry_cost> per_entry = std::nullopt;            ///< of a managed index in process
  std::vector<workload::touched_keys::last_use> used_keys = {};  ///< with --used
};

nlohmann::ordered_json to_json(const bench_plan& plan, const bench_result& found);

/// A few lines for a person.
std::string to_text(const bench_plan& plan, const bench_result& found);

/// Writes `line` and a line feed to `where` ("-": standard output), at the file's end.
base::result<void> append_line(const std::string& where, const std::string& line);

/// Writes used keys to the file `where`, one a line: the key, and how many windows ago it was used.
base::result<void> write_keys(const std::string& where, const workload::record_format& format,
                              std::span<const workload::touched_keys::last_use> uses);

/// One line on standard error that is written over and over; silent when that is no terminal.
class progress_line {
 public:
  progress_line();
  ~progress_line();  ///< wipes the line
  progress_line(const progress_line&) = delete;
  progress_line& operator=(const progress_line&) = delete;

  void show(const std::string& text);
  bool is_shown() const noexcept { return terminal_; }

 private:
  bool terminal_;
};

}  // namespace isotherm::harness
