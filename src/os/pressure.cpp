#include "os/pressure.hpp"

#include <charconv>

#include "os/proc_file.hpp"

namespace isotherm::os {

std::optional<double> parse_pressure(std::string_view text) {
  constexpr std::string_view kLabel = "some avg10=";
  const std::size_t at = text.find(kLabel);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view number = text.substr(at + kLabel.size());
  double percent = 0;
  const auto [end, failure] =
      std::from_chars(number.data(), number.data() + number.size(), percent);
  if (failure != std::errc{}) return std::nullopt;
  return percent;
}

std::optional<double> memory_pressure_percent() {
  return parse_pressure(read_proc_file("/proc/pressure/memory"));
}

}  // namespace isotherm::os
