#include "cli/collector_flags.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isotherm::cli {
namespace {

std::string upper(std::string_view word) {
  std::string text(word);
  for (char& letter : text) letter -= letter >= 'a' && letter <= 'z' ? 'a' - 'A' : 0;
  return text;
}

}  // namespace

void add_collector_flags(command described, collector::options& chosen,
                         std::initializer_list<std::string_view> left_out) {
  for (const collector::option& each : collector::option_table()) {
    const bool is_left_out = std::ranges::find(left_out, each.name) != left_out.end();
    if (!each.is_flag() || is_left_out) continue;
    const auto set = [&each, &chosen](const std::string& text) -> base::result<void> {
      auto done = each.set(chosen, text);
      if (!done) done.error().message.insert(0, "--");
      return done;
    };
    described
        .add(fmt::format("--{}", each.name), set, each.get(chosen),
             fmt::format("{} ({})", each.help, each.range()))
        .value_name(each.unit.empty() ? "VALUE" : upper(each.unit));
  }
}

}  // namespace isotherm::cli
