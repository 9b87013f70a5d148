// Traces of lines.
#pragma once

#include <memory>

#include "lab/traces/buffered_bytes.hpp"
#include "lab/traces/columns.hpp"
#include "lab/traces/source.hpp"

namespace isotherm::traces {

/// Reads lines of the layout; `first_line` is the number of the next line of `bytes`.
std::unique_ptr<source> make_text_source(buffered_bytes bytes, layout expected,
                                         std::string_view format, std::uint64_t first_line);

}  // namespace isotherm::traces
