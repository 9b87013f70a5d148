// The report of an observation as text: its first lines answer how much memory could leave.
#pragma once

#include <string>
#include <string_view>

#include "pages/observe.hpp"

namespace isotherm::pages {

/// Returns the name of a kind in a window's report. Memory without a mapping at the end of the
/// window was given back before, where mappings are known.
std::string_view label_of(mapping_kind kind, const window_report& w);

/// Returns the figures of the last window in full, a line for each window where there are several,
/// the limits of the source and its remarks.
std::string to_text(const observation& seen);

/// Returns a window in one line: seconds, accesses, bytes held, touched and used.
std::string to_line(const window_report& w, grain smallest);

}  // namespace isotherm::pages
