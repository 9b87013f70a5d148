// Traces of binary records.
#pragma once

#include <memory>
#include <string_view>

#include "lab/traces/buffered_bytes.hpp"
#include "lab/traces/formats.hpp"
#include "lab/traces/source.hpp"

namespace isotherm::traces {

/// Reads a list of numbers or oracleGeneral, as `how` says. Keys are the numbers in decimal digits.
std::unique_ptr<source> make_binary_source(buffered_bytes bytes, const format& how);

/// Whether the beginning of a file can be oracleGeneral's: times that never go back, and next
/// accesses that lie ahead.
bool looks_like_oracle(std::string_view beginning) noexcept;

}  // namespace isotherm::traces
