// Options whose value is one of a few words, or a whole number.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace isotherm::cli {

/// Adds option `flags` that sets `target` to the value whose name() was given; `help` lists the
/// names. Another word is refused with the list.
template <class Enum>
void add_choice(CLI::App& command, const std::string& flags, Enum& target,
                const std::vector<Enum>& values, const std::string& help) {
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

/// Refuses what is no whole number from `least` to `most`, and says so.
inline CLI::Validator whole_number(std::uint64_t least,
                                   std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
  const auto check = [least, most](const std::string& text) -> std::string {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc{} && read.ptr == end && value >= least && value <= most) return "";
    std::string range = " from " + std::to_string(least);
    if (most != std::numeric_limits<std::uint64_t>::max()) range += " to " + std::to_string(most);
    return "'" + text + "' is no whole number" + range;
  };
  return CLI::Validator(check, "");
}

}  // namespace isotherm::cli
