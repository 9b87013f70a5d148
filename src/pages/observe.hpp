// A whole observation: windows of a source, one after the other, and their figures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pages/measure.hpp"
#include "pages/source.hpp"

namespace isotherm::pages {

/// The times at which windows begin and end. If nothing is set, one window lasts until the source
/// ends.
struct schedule {
  window_limit skip;                     ///< left out before the first window; empty: nothing
  window_limit length;                   ///< of each window
  std::optional<std::uint64_t> windows;  ///< the observation ends after so many
};

struct observation {
  source_traits traits;
  std::vector<window_report> windows;  ///< empty if the program ended within `skip`
  std::vector<std::string> remarks;
  int exit_status = 0;  ///< for the tool, as source::finish() returns it
};

/// Runs the source by the schedule until it ends, a stop is requested or all windows are done.
/// `told` (may be empty) gets each window's figures when it has ended. Errors: of the source.
base::result<observation> observe(source& from, const schedule& times, const requests& asked,
                                  const std::function<void(const window_report&)>& told);

}  // namespace isotherm::pages
