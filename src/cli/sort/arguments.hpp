// The arguments of `isotherm sort`, as the user gave them.
#pragma once

#include <isotherm/sort.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/parser/command.hpp"
#include "cli/sort/resources.hpp"

namespace isotherm::cli {

/// The flags, as given.
struct sort_arguments {
  sort_options options;
  std::vector<std::string> inputs;
  std::string output = "-", json;
  std::optional<std::string> names;
  cli::resources resources;
  std::vector<std::string> keys;
  std::string key_letters;  // options of keys that have none
  std::string kind;         // a word of --sort
  std::optional<std::string> random_source;
  std::optional<std::uint64_t> record_bytes;
  std::string check;            // a word of --check; empty: the input is sorted, but for -C
  bool check_silently = false;  // -C
  bool merge = false;           ///< accepted, and needed for nothing
  bool klv = false, zero_terminated = false, progress = false, explain = false, not_durable = false;
  bool as_it_is = false;
};

/// Adds the arguments to `described`; they are read into `given`, which must outlive it.
void add_sort_arguments(command described, sort_arguments& given);

/// Adds the arguments that tell of records and their order, of another command that looks at them.
void add_order(command described, sort_arguments& given);
/// Completes given.options with what add_order() has added. A mistake fails the command.
void understand_order(sort_arguments& given);

/// Completes given.options with what is given as text, and checks it. A mistake fails the command.
void understand(sort_arguments& given);

}  // namespace isotherm::cli
