#include "options.hpp"

#include <string_view>

namespace isotherm::compiler {

bool parse_option(options& into, const std::string& argument) {
  constexpr std::string_view kReport = "report=";
  if (argument.starts_with(kReport)) {
    into.report = argument.substr(kReport.size());
    return true;
  }
  const auto off = [&](std::string_view name, bool& warns) {
    if (argument != "Wno-" + std::string(name)) return false;
    warns = false;
    return true;
  };
  return off("isotherm-longjmp", into.warns_longjmp) || off("isotherm-malloc", into.warns_malloc) ||
         off("isotherm-kept", into.warns_kept) || off("isotherm-main", into.warns_main) ||
         off("isotherm-held", into.warns_held) || off("isotherm-discarded", into.warns_discarded);
}

}  // namespace isotherm::compiler
