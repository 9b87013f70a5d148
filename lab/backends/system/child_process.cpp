#include "lab/backends/system/child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace isotherm::lab {
namespace {

/// Keeps the standard descriptors and `kept`.
void close_others(int kept) {
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  const auto mine = static_cast<unsigned>(kept);
  if (mine > kFirst) ::close_range(kFirst, mine - 1, 0);
  ::close_range(mine + 1, ~0U, 0);
}

[[noreturn]] void be_child(int descriptor, pid_t parent,
                           const std::function<void(line_channel&)>& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before the call
  ::setsid();
  for (const int each : {SIGINT, SIGTERM, SIGHUP}) ::signal(each, SIG_DFL);
  ::signal(SIGPIPE, SIG_IGN);
  close_others(descriptor);
  line_channel channel(descriptor);
  body(channel);
  ::_exit(0);  // what the body made is not taken apart
}

}  // namespace

line_channel::~line_channel() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void line_channel::send(const std::string& line) const {
  std::string text = line + '\n';
  while (!text.empty()) {
    const ssize_t sent = ::write(descriptor_, text.data(), text.size());
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    text.erase(0, static_cast<std::size_t>(sent));
  }
}

std::vector<std::string> line_channel::received() {
  std::vector<std::string> lines;
  char piece[4096];
  pollfd ready{descriptor_, POLLIN, 0};
  while (is_open_ && ::poll(&ready, 1, 0) > 0) {
    const ssize_t got = ::read(descriptor_, piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    is_open_ = got > 0;
    if (!is_open_) break;
    partial_.append(piece, static_cast<std::size_t>(got));
  }
  for (std::size_t end = 0; (end = partial_.find('\n')) != std::string::npos;) {
    lines.push_back(partial_.substr(0, end));
    partial_.erase(0, end + 1);
  }
  return lines;
}

std::string line_channel::next() {
  for (;;) {
    pollfd ready{descriptor_, POLLIN, 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return "";
    if (auto lines = received(); !lines.empty()) return lines.front();
    if (!is_open_) return "";
  }
}

base::result<child_process> child_process::start(const std::function<void(line_channel&)>& body) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected(base::system_error("cannot make a pair of sockets", errno));
  }
  std::fflush(stdout);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) be_child(ends[1], parent, body);
  const int problem = errno;
  ::close(ends[1]);
  line_channel channel(ends[0]);
  if (child < 0) return std::unexpected(base::system_error("cannot start a process", problem));
  return child_process(child, std::move(channel));
}

child_process::~child_process() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace isotherm::lab
