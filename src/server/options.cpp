#include "server/options.hpp"

#include "store/text.hpp"

namespace isotherm::server {

std::optional<std::int64_t> parse_clients_limit(std::string_view text) noexcept {
  if (text.ends_with('%')) {
    const auto percent = store::parse_integer(text.substr(0, text.size() - 1));
    if (!percent || *percent < 0) return std::nullopt;
    return -*percent;
  }
  const auto bytes = store::parse_memory(text);
  if (!bytes) return std::nullopt;
  return *bytes > INT64_MAX ? INT64_MIN : static_cast<std::int64_t>(*bytes);
}

std::uint64_t settings::clients_limit_bytes() const noexcept {
  const std::int64_t chosen = maxmemory_clients.load_relaxed();
  if (chosen >= 0) return static_cast<std::uint64_t>(chosen);
  return maxmemory.load_relaxed() / 100 * static_cast<std::uint64_t>(-chosen);
}

}  // namespace isotherm::server
