#include "cli/collector_flags.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/fail.hpp"

namespace isotherm::cli {
namespace {

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& letter : text) letter -= letter >= 'a' && letter <= 'z' ? 'a' - 'A' : 0;
  return text;
}

}  // namespace

void add_collector_flags(CLI::App& command, collector::options& chosen) {
  for (const collector::option& each : collector::option_table()) {
    if (!each.is_flag()) continue;
    const auto set = [&each, &chosen](const std::string& text) {
      if (const auto done = each.set(chosen, text); !done)
        refuse_words("--" + done.error().message);
    };
    command
        .add_option_function<std::string>(fmt::format("--{}", each.name), set,
                                          fmt::format("{} ({})", each.help, each.range()))
        ->default_str(each.get(chosen))
        ->type_name(each.unit.empty() ? "VALUE" : upper(each.unit));
  }
}

}  // namespace isotherm::cli
