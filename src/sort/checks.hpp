// What is refused before the first byte is read: requests that cannot end well.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

#include "sort/input/source.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// Whether the options fit each other and an input of `bytes`.
base::result<void> check_options(const sort_options& o, std::uint64_t bytes);

/// Whether the output is another file than the input, and there is room for it and for runs. Where
/// how much will be written depends on the keys (--unique, --count), for all of them different;
/// where it depends on the sizes of records, for sizes as at the input's beginning.
base::result<void> check_files(const source& in, const std::string& output,
                               const std::string& temporary_directory, const plan& p,
                               const sort_options& o);

}  // namespace isotherm::sort
