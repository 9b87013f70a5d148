// Options whose value is one of a few words.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <map>
#include <string>

namespace isotherm::cli {

/// Adds option `flags` that sets `target` to the value whose name() was given; `help` lists the
/// names. Another word is refused with the list.
template <class Enum>
void add_choice(CLI::App& command, const std::string& flags, Enum& target,
                std::initializer_list<Enum> values, const std::string& help) {
  std::map<std::string, Enum> all;
  std::string list;
  for (const Enum v : values) {
    all.emplace(name(v), v);
    list += (list.empty() ? "" : ", ") + std::string(name(v));
  }
  command
      .add_option_function<std::string>(
          flags,
          [&target, flags, all, list](const std::string& word) {
            const auto found = all.find(word);
            if (found == all.end()) {
              throw CLI::ValidationError(flags, "'" + word + "' is not one of " + list);
            }
            target = found->second;
          },
          help + ": " + list)
      ->type_name("WORD");
}

}  // namespace isotherm::cli
