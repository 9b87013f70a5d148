#include "lab/backends/all_backends.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/backends/report.hpp"
#include "lab/backends/run.hpp"
#include "lab/backends/system/system_changes.hpp"
#include "lab/bench/report.hpp"
#include "tool/origin.hpp"

namespace isotherm::lab {
namespace {

class all_runs {
 public:
  all_runs(const backends_options& asked, system_changes& changes, const std::stop_token& stop)
      : asked_(asked), changes_(changes), stop_(stop) {}

  base::result<void> run(unsigned round, std::uint64_t seed) {
    const auto runs = understand(asked_, seed);
    if (!runs) return std::unexpected(runs.error());
    for (const backends_run& run : *runs) {
      if (auto made = make(run, round, seed); !made) return made;
    }
    return {};
  }
  unsigned failed() const noexcept { return failed_; }

 private:
  base::result<void> make(const backends_run& run, unsigned round, std::uint64_t seed) {
    nlohmann::json row = settings_of(asked_, run, round, seed);
    base::result<backends_result> found;
    if (const std::string lacking = why_not(run); !lacking.empty()) {
      found = std::unexpected(base::error{lacking});
    } else {
      found = run_backed(asked_, run, changes_, stop_);
    }
    if (!found && found.error().code == ECANCELED) return std::unexpected(found.error());
    if (found) {
      row.update(to_json(*found));
      print(run, *found);
    } else {
      row["problem"] = found.error().message;
      ++failed_;
      fmt::print(stderr, "isotherm: {} under {}, management {}: {}\n", run.stores, run.kind->name,
                 run.manage, found.error().message);
    }
    if (asked_.json.empty()) return {};
    row["origin"] = tool::origin();
    return append_line(asked_.json, tool::text_of(row));
  }

  void print(const backends_run& run, const backends_result& found) {
    if (asked_.json == "-") return;
    if (is_first_) fmt::print("{}", backends_head());
    is_first_ = false;
    fmt::print("{}", backends_row(run, found));
    std::fflush(stdout);
  }

  const backends_options& asked_;
  system_changes& changes_;
  const std::stop_token& stop_;
  bool is_first_ = true;
  unsigned failed_ = 0;
};

/// Returns whether some backend cannot run without swap space or a control group. The others are
/// measured in a control group too where one can be made.
bool has_to_change(const backends_options& asked) {
  return std::ranges::any_of(asked.backends, [](const std::string& name) {
    const auto kind = find_backend(name);
    return kind && ((*kind)->needs_group || (*kind)->needs_swap);
  });
}

/// Returns the list of changes; one on which nothing can be noted where it cannot be written, by
/// its user or on a read-only file system, and no backend has to change anything.
base::result<system_changes> open_changes(const backends_options& asked,
                                          std::vector<std::string>& mended) {
  const std::string folder = std::filesystem::path(kChangesPath).parent_path();
  const bool is_writable = ::access(folder.c_str(), W_OK) == 0;
  const bool is_root = ::geteuid() == 0;
  if (!is_root || (!is_writable && !has_to_change(asked))) return system_changes::none();
  return system_changes::open(kChangesPath, mended);
}

}  // namespace

base::result<void> check(const backends_options& asked) {
  auto runs = understand(asked, 1);
  return runs ? base::result<void>() : std::unexpected(runs.error());
}

base::result<void> run_all_backends(const backends_options& asked, const std::stop_token& stop) {
  std::vector<std::string> mended;
  auto changes = open_changes(asked, mended);
  if (!changes) return std::unexpected(changes.error());
  for (const std::string& each : mended) {
    fmt::print(stderr, "isotherm: undid what a killed run had left: {}\n", each);
  }
  all_runs runs(asked, *changes, stop);
  for (unsigned round = 0; round < asked.rounds; ++round) {
    const std::uint64_t seed = asked.store.seed ? *asked.store.seed + round : drawn_seed();
    if (auto made = runs.run(round, seed); !made) return made;
  }
  if (runs.failed() == 0) return {};
  return std::unexpected(base::error{fmt::format("{} runs could not be made", runs.failed())});
}

}  // namespace isotherm::lab
