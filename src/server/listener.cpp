#include "server/listener.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "os/files/file_system.hpp"

namespace isotherm::server {

namespace {

constexpr int kBacklog = 511;

/// A numeric address and port, or "PATH:0".
std::string format_address(const sockaddr_storage& address, const std::string& unix_path) {
  char text[INET6_ADDRSTRLEN] = "?";
  if (address.ss_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof in);
    ::inet_ntop(AF_INET, &in.sin_addr, text, sizeof text);
    return fmt::format("{}:{}", text, ntohs(in.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    sockaddr_in6 in;
    std::memcpy(&in, &address, sizeof in);
    ::inet_ntop(AF_INET6, &in.sin6_addr, text, sizeof text);
    return fmt::format("[{}]:{}", text, ntohs(in.sin6_port));
  }
  return unix_path + ":0";
}

sockaddr_un unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// Whether a process listens at a Unix socket's address.
enum class listening : std::uint8_t {
  somebody,  ///< or not known
  nobody,    ///< any more: its file was left behind
  no_file
};
/// Never waits: a server whose queue of clients is full (EAGAIN) is alive.
listening who_listens(const sockaddr_un& address) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return listening::somebody;
  const int answer = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int code = answer < 0 ? errno : 0;
  ::close(fd);
  if (code == ENOENT) return listening::no_file;
  return code == ECONNREFUSED ? listening::nobody : listening::somebody;
}

bool is_socket_file(const std::string& path) {
  struct stat facts;
  return ::lstat(path.c_str(), &facts) == 0 && S_ISSOCK(facts.st_mode);
}

}  // namespace

base::result<listener> listener::on_tcp(const std::string& given, int port) {
  const bool may_be_missing = given.starts_with('-');
  const std::string address = given.substr(may_be_missing ? 1 : 0);
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = address == "*" ? AF_INET : address == "::*" ? AF_INET6 : AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  const std::string service = std::to_string(port);
  const char* host = address == "*" || address == "::*" ? nullptr : address.c_str();
  if (const int error = ::getaddrinfo(host, service.c_str(), &hints, &found)) {
    return std::unexpected(
        base::error{fmt::format("cannot listen on {}: {}", address, ::gai_strerror(error))});
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0 && errno == EAFNOSUPPORT && may_be_missing) return listener(-1);
  if (fd < 0) return std::unexpected(base::system_error("cannot make a socket", errno));
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  // Lets "::" leave IPv4 to a "0.0.0.0" beside it.
  if (found->ai_family == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
  listener made(fd);
  if (::bind(fd, found->ai_addr, found->ai_addrlen) < 0 || ::listen(fd, kBacklog) < 0) {
    const int code = errno;
    if (code == EADDRNOTAVAIL && may_be_missing) return listener(-1);
    std::string advice = code == EADDRINUSE ? " (choose another with --port)" : "";
    auto failed =
        base::system_error(fmt::format("cannot listen on {} port {}", address, port), code);
    failed.message += advice;
    return std::unexpected(std::move(failed));
  }
  return made;
}

base::result<listener> listener::on_unix(const std::string& path, std::uint32_t mode) {
  sockaddr_un longest;
  if (path.size() >= sizeof longest.sun_path) {
    return std::unexpected(base::error{fmt::format("Unix socket path is longer than {} bytes: {}",
                                                   sizeof longest.sun_path - 1, path)});
  }
  const sockaddr_un address = unix_address(path);
  if (is_socket_file(path)) {
    const listening now = who_listens(address);
    if (now == listening::somebody) {
      return std::unexpected(base::error{
          fmt::format("another server listens on {} (choose another --unixsocket)", path)});
    }
    // Not where it has just gone: what is there next is another server's.
    if (now == listening::nobody) os::remove_file(path);
  }
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return std::unexpected(base::system_error("cannot make a socket", errno));
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
    const int code = errno;
    ::close(fd);
    return std::unexpected(base::system_error("cannot listen on " + path, code));
  }
  listener made(fd, path);
  // Before listen(): no client can connect until then, whatever the permissions are.
  if (mode != 0 && ::chmod(path.c_str(), static_cast<mode_t>(mode)) < 0) {
    return std::unexpected(base::system_error("cannot set the permissions of " + path, errno));
  }
  if (::listen(fd, kBacklog) < 0) {
    return std::unexpected(base::system_error("cannot listen on " + path, errno));
  }
  return made;
}

listener::listener(listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::exchange(other.path_, {})) {}

listener::~listener() {
  if (fd_ < 0) return;
  // In this order: once this server has stopped listening another may put its own file there.
  if (!path_.empty()) os::remove_file(path_);
  ::close(fd_);
}

int listener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string text = format_address(address, "");
  return std::stoi(text.substr(text.rfind(':') + 1));
}

std::string peer_address(int fd, const std::string& unix_path) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) < 0) return "?:0";
  return format_address(address, unix_path);
}

std::string local_address(int fd, const std::string& unix_path) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) < 0) return "?:0";
  return format_address(address, unix_path);
}

bool is_local_peer(int fd) {
  const std::string peer = peer_address(fd, "/");
  return peer.starts_with("/") || peer.starts_with("127.") || peer.starts_with("[::1]") ||
         peer.starts_with("[::ffff:127.");
}

}  // namespace isotherm::server
