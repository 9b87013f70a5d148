#include "tool/address.hpp"

#include <fmt/format.h>

#include <string_view>

#include "base/numbers.hpp"

namespace isotherm::tool {

namespace {
constexpr std::string_view kMemcached = "memcached:";
}  // namespace

base::result<address> address::parse(const std::string& text) {
  const base::error bad{fmt::format(
      "cannot read the address '{}'; write unix:PATH or tcp:HOST:PORT, of a memcached with "
      "memcached: before it",
      text)};
  address where;
  std::string_view rest = text;
  if (rest.starts_with(kMemcached)) {
    where.speaks = protocol::memcached;
    rest.remove_prefix(kMemcached.size());
  }
  if (rest.starts_with("unix:") && rest.size() > 5) {
    where.path = rest.substr(5);
    return where;
  }
  const std::size_t colon = rest.rfind(':');
  if (!rest.starts_with("tcp:") || colon <= 4) return std::unexpected(bad);
  where.host = rest.substr(4, colon - 4);
  const auto port = base::parse_number<std::uint16_t>(rest.substr(colon + 1), 1);
  if (!port) return std::unexpected(bad);
  where.port = *port;
  if (where.host.starts_with('[') && where.host.ends_with(']')) {
    where.host = where.host.substr(1, where.host.size() - 2);
  }
  return where;
}

std::string address::text() const {
  const std::string place = path.empty() ? fmt::format("tcp:{}:{}", host, port) : "unix:" + path;
  return speaks == protocol::memcached ? std::string(kMemcached) + place : place;
}

}  // namespace isotherm::tool
