#include "live/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/numbers.hpp"

namespace isotherm::live {

namespace {

bool is_ip(int family, std::string_view text) {
  in6_addr unused{};
  return inet_pton(family, std::string(text).c_str(), &unused) == 1;
}

struct host_and_port {
  std::string_view host;
  std::optional<std::string_view> port;
  bool is_bracketed = false;
};

/// Splits "host:port", "[v6]:port", "host"; nullopt: none of these.
std::optional<host_and_port> split(std::string_view text) {
  host_and_port found;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos) return std::nullopt;
    found = {text.substr(1, end - 1), std::nullopt, true};
    text.remove_prefix(end + 1);
    if (text.empty()) return found;
    if (text.front() != ':') return std::nullopt;
    found.port = text.substr(1);
    return found;
  }
  const std::size_t colon = text.find(':');
  found.host = text.substr(0, colon);
  if (colon != text.npos) found.port = text.substr(colon + 1);
  return found;
}

bool is_letter_of_a_name(char letter) noexcept {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '-' || letter == '_';
}

}  // namespace

base::result<address> parse_address(std::string_view text) {
  const auto refused = [&] {
    return std::unexpected(base::error{fmt::format(
        "'{}' is no address for HTTP: give 127.0.0.1:9180, [::1]:9180 or :9180", text)});
  };
  const auto parts = split(text);
  if (!parts || !parts->port) return refused();
  const auto port = base::parse_number<std::uint16_t>(*parts->port);
  if (!port) return refused();
  const bool is_local = !parts->is_bracketed && (parts->host.empty() || parts->host == "localhost");
  if (is_local) return address{"127.0.0.1", *port};
  if (!is_ip(parts->is_bracketed ? AF_INET6 : AF_INET, parts->host)) return refused();
  return address{std::string(parts->host), *port};
}

std::string url_of(const address& where) {
  return where.is_v6() ? fmt::format("http://[{}]:{}/", where.host, where.port)
                       : fmt::format("http://{}:{}/", where.host, where.port);
}

bool is_own_name(std::string_view host_header, std::span<const std::string> own) {
  const auto parts = split(host_header);
  if (!parts || (parts->port && !base::parse_number<std::uint16_t>(*parts->port))) return false;
  if (parts->is_bracketed) return is_ip(AF_INET6, parts->host);
  if (is_ip(AF_INET, parts->host)) return true;
  const std::string_view name =
      parts->host.substr(0, parts->host.size() - parts->host.ends_with('.'));
  if (name.empty()) return false;
  if (std::ranges::find(own, name) != own.end()) return true;
  return std::ranges::all_of(name, is_letter_of_a_name);
}

}  // namespace isotherm::live
