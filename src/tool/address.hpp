// The address of a server.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace isotherm::tool {

/// The place where a server listens, and the protocol that it speaks.
struct address {
  enum class protocol : std::uint8_t { redis, memcached };
  protocol speaks = protocol::redis;
  std::string path;  ///< of a Unix socket; empty for TCP
  std::string host;
  std::uint16_t port = 0;

  /// Parses "unix:PATH" or "tcp:HOST:PORT", of a memcached with "memcached:" before it.
  static base::result<address> parse(const std::string& text);
  std::string text() const;
};

}  // namespace isotherm::tool
