// The results of a run, as one JSON object and as a table; and the line that shows it going.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lab/bench/bounds.hpp"
#include "lab/bench/operating_point.hpp"
#include "lab/bench/options.hpp"
#include "lab/bench/window_sample.hpp"
#include "lab/workload/driver.hpp"
#include "lab/workload/touched.hpp"

namespace isotherm::lab {

/// Memory of a managed index after the load, keys and values left out, in bytes an entry.
struct entry_cost {
  double nodes = 0;   ///< of the NODE heap as it rounds them, guides included
  double guides = 0;  ///< of which guides
  double soda = 0;    ///< the bitmap of guides
};

/// A memory node's shares of the values of an index, each 0 to 1.
struct node_shares {
  double records = 0;
  double accesses = 0;
};

/// A finished run.
struct bench_result {
  workload::outcome driven;
  std::vector<window_sample> windows;  ///< at least one; the last is the state at the end
  std::string index;                   ///< name of the index, or of the server's
  std::string manage;
  double load_seconds = 0;
  std::optional<bounds_report> bounds = std::nullopt;            ///< what the misses stand beside
  std::optional<operating_point> point = std::nullopt;           ///< of the last window
  std::optional<entry_cost> per_entry = std::nullopt;            ///< of a managed index in process
  std::vector<node_shares> nodes = {};                           ///< at the end, in process
  std::vector<workload::touched_keys::last_use> used_keys = {};  ///< with --used
};

nlohmann::ordered_json to_json(const bench_plan& plan, const bench_result& found);

/// Adds all fields but those of the settings, of any run that found these.
void add_found(nlohmann::ordered_json& object, const bench_plan& plan, const bench_result& found);

/// A few lines for a person.
std::string to_text(const bench_plan& plan, const bench_result& found);
/// The lines below the first, which names the workload: of any run that found these.
std::string found_text(const bench_plan& plan, const bench_result& found);

/// Prints the operating point that is known before the run, unless standard output is for JSON.
void announce(const bench_plan& plan);

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

}  // namespace isotherm::lab
