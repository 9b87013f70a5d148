// Words for keys that are columns of CSV.
#pragma once

#include <isotherm/sort.hpp>

#include <string>
#include <vector>

#include "base/error.hpp"

namespace isotherm::cli {

/// Reads keys of CSV: a column's number with options behind it, or its name, which may stand in
/// double quotes, and options behind a colon. A key without options has those of `all`.
base::result<std::vector<sort_key>> parse_columns(const std::vector<std::string>& words,
                                                  const sort_key& all);

}  // namespace isotherm::cli
