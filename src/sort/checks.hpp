// What is refused before the first byte is read: requests that cannot end well.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

#include "sort/plan.hpp"

namespace isotherm::sort {

/// Whether the options fit each other and an input of `bytes`.
base::result<void> check_options(const sort_options& o, std::uint64_t bytes);

/// Whether the output is another file than the input, and there is room for it and for runs.
base::result<void> check_files(const std::string& input, const std::string& output,
                               std::uint64_t bytes, const std::string& temporary_directory,
                               const plan& p, const sort_options& o);

}  // namespace isotherm::sort
