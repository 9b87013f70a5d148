// The files that hold the runs of one sort: one, without a name, in each directory of the plan that
// a run was written to. A run lies in one of them.
#pragma once

#include <deque>
#include <vector>

#include "os/files/file.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

struct run_place {
  run_directory at;
  os::file file;
  std::uint64_t end = 0;      ///< where the next run begins
  std::uint64_t written = 0;  ///< bytes of runs, those that were merged into others included
};

class run_places {
 public:
  explicit run_places(const context& ctx) : ctx_(ctx) {}

  /// Returns the place of a run that takes up to `bytes`: the first directory that has room for it,
  /// which is taken at once; the last directory is not asked. Null after an error, which becomes
  /// the job's. Places stay where they are.
  run_place* take(std::uint64_t bytes);
  /// Those that were written to.
  std::vector<sort_place> report() const;

 private:
  const context ctx_;
  std::deque<run_place> all_;  // in the order of the plan's directories
};

}  // namespace isotherm::sort
