// Words for numbers that are keys of fixed records.
#pragma once

#include <isotherm/sort.hpp>

#include <string_view>

#include "base/error.hpp"

namespace isotherm::cli {

/// Reads the type of a number, u8 to u64, i8 to i64, f32 or f64, and its byte order, ",le" or
/// ",be".
base::result<record_number> parse_number(std::string_view word);

}  // namespace isotherm::cli
