// The address at which the page is served, and the names by which a browser may ask for it.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace isotherm::live {

struct address {
  std::string host;        ///< an IPv4 or IPv6 address, without brackets
  std::uint16_t port = 0;  ///< 0: any free one
  bool is_v6() const noexcept { return host.contains(':'); }
  bool is_loopback() const noexcept { return host == "::1" || host.starts_with("127."); }
};

/// The address in the form of the system.
struct socket_address {
  explicit socket_address(const address& where) {
    if (where.is_v6()) {
      v6.sin6_family = AF_INET6;
      v6.sin6_port = htons(where.port);
      inet_pton(AF_INET6, where.host.c_str(), &v6.sin6_addr);
    } else {
      v4.sin_family = AF_INET;
      v4.sin_port = htons(where.port);
      inet_pton(AF_INET, where.host.c_str(), &v4.sin_addr);
    }
  }
  union {
    sockaddr_in v4;
    sockaddr_in6 v6{};
    sockaddr any;
  };
};

/// "127.0.0.1:9180", "[::1]:9180", "localhost:9180" or ":9180", which are on loopback. Fails with
/// one line.
base::result<address> parse_address(std::string_view text);

/// "http://127.0.0.1:9180/".
std::string url_of(const address& where);

/// Whether a request with this Host header can't come from a page of another site: a page that has
/// had its own name point to this machine (DNS rebinding) names itself, with a dot in it. The
/// header must thus be an IP address, a name without a dot, or one of `own`, the machine's names. A
/// dot at the end, as of the whole name, changes nothing.
bool is_own_name(std::string_view host_header, std::span<const std::string> own);

}  // namespace isotherm::live
