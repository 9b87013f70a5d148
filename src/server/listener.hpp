// Listening sockets.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace isotherm::server {

/// A listening, non-blocking socket. The destructor closes it, and removes a Unix socket's file.
class listener {
 public:
  /// `port` 0: any free one. Fails with one line that says what to do. An address as "-::1" may be
  /// one that this host does not have: see is_missing().
  static base::result<listener> on_tcp(const std::string& address, int port);
  /// Replaces a socket file on which no process listens any more. `mode`: the permissions of the
  /// new file, which decide who may connect; 0: what the umask leaves.
  static base::result<listener> on_unix(const std::string& path, std::uint32_t mode = 0);

  listener(listener&& other) noexcept;
  listener& operator=(listener&&) = delete;
  ~listener();

  /// Whether on_tcp() has found that the host has no such address, or none of its kind, which a '-'
  /// before it allows.
  bool is_missing() const noexcept { return fd_ < 0; }

  int fd() const noexcept { return fd_; }
  int port() const;

 private:
  explicit listener(int fd, std::string path = {}) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
};

/// "127.0.0.1:6379", "[::1]:6379" or "PATH:0" of either end of a connected socket.
std::string peer_address(int fd, const std::string& unix_path);
std::string local_address(int fd, const std::string& unix_path);
/// True for Unix sockets and loopback peers.
bool is_local_peer(int fd);

}  // namespace isotherm::server
