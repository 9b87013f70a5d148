// The collector's options as flags of a subcommand.
#pragma once

#include <initializer_list>
#include <string_view>

#include "cli/parser/command.hpp"
#include "collector/options.hpp"

namespace isotherm::cli {

/// Adds a flag for each option of the table that is set at the start, except those that the command
/// sets itself (`left_out`). `chosen` holds the defaults and must outlive the command; a value that
/// is out of range ends the command.
void add_collector_flags(command described, collector::options& chosen,
                         std::initializer_list<std::string_view> left_out = {});

}  // namespace isotherm::cli
