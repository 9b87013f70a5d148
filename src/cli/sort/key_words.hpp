// Words of GNU sort for keys of lines.
#pragma once

#include <isotherm/sort.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace isotherm::cli {

/// The place of a key at which options stand.
enum class place { begin, end };

/// Sets in `key` the options that are named by letters at the front of `letters`, and removes
/// these.
base::result<void> take_options(std::string_view& letters, sort_key& key, place side);

/// Reads a key as `-k` has it.
base::result<sort_key> parse_key(const std::string& word);
/// Returns `key` or, if it has no options, `key` with those of `all`.
sort_key with_options(const sort_key& key, const sort_key& all);

/// Reads keys as `-k` has them. A key without options has those of `all`, of which only the options
/// count. Without keys, the line is one if `all` has an option besides reverse.
base::result<std::vector<sort_key>> parse_keys(const std::vector<std::string>& words,
                                               const sort_key& all);

}  // namespace isotherm::cli
