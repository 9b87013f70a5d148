// Checks of a request before the first byte is read: what cannot succeed is refused.
#pragma once

#include <isotherm/sort.hpp>

#include <string>

#include "sort/input/source.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// Checks that the options fit each other and an input of `bytes` bytes.
base::result<void> check_options(const sort_options& o, std::uint64_t bytes);

/// The files and directories of one sort.
struct places {
  const source& input;
  const std::string& output;
  const std::string& temporary_directory;  ///< for what waits
};

/// Checks that bytes of the output would not be appended to the input, that files can be made in
/// `directory`, and that it has room for `bytes` bytes.
base::result<void> check_output(const places& at, const std::string& directory,
                                std::uint64_t bytes);

/// Checks that the output is not the input, and that there is room for the output and for the runs
/// of `p`. The output's size is estimated with keys that are all different if it depends on them
/// (--unique, --count), and with the mean size if it depends on the sizes of records. Returns `p`,
/// or in pieces if that costs less and there is room for the runs.
base::result<plan> plan_with_room(const plan& p, const facts& known, const places& at,
                                  const sort_options& o);

}  // namespace isotherm::sort
