#include "server/options.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/numbers.hpp"
#include "store/text.hpp"

namespace isotherm::server {

std::optional<std::int64_t> parse_clients_limit(std::string_view text) noexcept {
  if (text.ends_with('%')) {
    const auto percent = store::parse_integer(text.substr(0, text.size() - 1));
    if (!percent || *percent < 0) return std::nullopt;
    return -*percent;
  }
  const auto bytes = base::parse_bytes(text);
  if (!bytes) return std::nullopt;
  return *bytes > INT64_MAX ? INT64_MIN : static_cast<std::int64_t>(*bytes);
}

std::optional<placement::fast_size> parse_fast_size(std::string_view text) noexcept {
  if (!text.ends_with('%')) {
    const auto bytes = base::parse_bytes(text);
    if (!bytes) return std::nullopt;
    return placement::fast_size{.bytes = *bytes};
  }
  double percent = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), percent);
  const bool is_whole = problem == std::errc() && end == text.data() + text.size() - 1;
  if (!is_whole || !(percent >= 0 && percent <= 100)) return std::nullopt;
  return placement::fast_size{.share = percent / 100};
}

std::string to_text(const placement::fast_size& size) {
  return size.share ? fmt::format("{}%", *size.share * 100) : fmt::format("{}", size.bytes);
}

std::uint64_t settings::clients_limit_bytes(std::uint64_t memory_bytes) const noexcept {
  const std::int64_t chosen = maxmemory_clients.load_relaxed();
  if (chosen >= 0) return static_cast<std::uint64_t>(chosen);
  const std::uint64_t asked = maxmemory.load_relaxed();
  const std::uint64_t base = asked == 0 ? memory_bytes : std::min(asked, memory_bytes);
  return base / 100 * static_cast<std::uint64_t>(-chosen);
}

}  // namespace isotherm::server
