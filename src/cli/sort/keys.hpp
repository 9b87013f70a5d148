// Keys of lines in the words of GNU sort.
#pragma once

#include "cli/parser/command.hpp"
#include "cli/sort/arguments.hpp"

namespace isotherm::cli {

/// Adds the flags that name keys of lines and their order.
void add_key_flags(command described, sort_arguments& given);

/// Sets the separator, the end and the keys of lines in given.options, and whether records come in
/// reverse order. A mistake fails the command.
void understand_keys(sort_arguments& given);

}  // namespace isotherm::cli
