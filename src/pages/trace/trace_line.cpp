#include "pages/trace/trace_line.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <system_error>

#include "pages/bits.hpp"

namespace isotherm::pages {
namespace {

std::optional<std::uint64_t> number(std::string_view text, int base) noexcept {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

trace_line use(line_meaning meaning, std::optional<std::uint64_t> address,
               std::optional<std::uint64_t> bytes) noexcept {
  if (!address || !bytes || *bytes == 0 || *bytes > kMostAccessBytes || *address >= kAddressEnd) {
    return {};
  }
  return {.meaning = meaning, .address = *address, .bytes = *bytes};
}

constexpr trace_line kOther{.meaning = line_meaning::other, .address = 0, .bytes = 0};

/// "I  04001090,3", " S 1ffefffe98,8", " L ...", " M ..."; beside them lines of valgrind itself,
/// "==123== ...".
trace_line parse_lackey(std::string_view line) noexcept {
  if (line.empty() || line.starts_with("==") || line.starts_with("--")) return kOther;
  const std::string_view kind = line.substr(0, 3);
  if (kind != "I  " && kind != " S " && kind != " L " && kind != " M ") return {};
  const std::size_t comma = line.find(',');
  if (comma == std::string_view::npos) return {};
  return use(kind.starts_with('I') ? line_meaning::fetch : line_meaning::access,
             number(line.substr(3, comma - 3), 16), number(line.substr(comma + 1), 10));
}

std::string_view last_word(std::string_view text) noexcept {
  const std::size_t end = text.find_last_not_of(' ');
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  return text.substr(text.find_last_of(' ') + 1);  // npos + 1 is 0
}

/// "  12   7:  3264604 write   8 byte(s) @ 0x00007ffd1234 by PC 0x..."; beside them headings and
/// markers.
trace_line parse_drmemtrace(std::string_view line) noexcept {
  constexpr std::string_view kUnit = "byte(s) @ ";
  const std::size_t unit = line.find(kUnit);
  if (unit == std::string_view::npos) {
    const bool known = line.empty() || line.contains('<') || line.starts_with("---") ||
                       line.starts_with("Output format") || line.starts_with("View tool") ||
                       line.contains("total ");
    return known ? kOther : trace_line{};
  }
  const std::string_view before = line.substr(0, unit);
  const std::string_view size = last_word(before);
  const std::string_view kind =
      size.empty()
          ? size
          : last_word(before.substr(0, static_cast<std::size_t>(size.data() - before.data())));
  std::string_view address = line.substr(unit + kUnit.size());
  address = address.substr(0, address.find(' '));
  if (address.starts_with("0x")) address.remove_prefix(2);
  const auto meaning = kind == "ifetch" ? line_meaning::fetch : line_meaning::access;
  const trace_line found = use(meaning, number(address, 16), number(size, 10));
  if (kind == "read" || kind == "write" || kind == "ifetch") return found;
  return found.meaning == line_meaning::malformed ? found : kOther;
}

}  // namespace

trace_line parse(trace_format format, std::string_view line) noexcept {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return format == trace_format::lackey ? parse_lackey(line) : parse_drmemtrace(line);
}

}  // namespace isotherm::pages
