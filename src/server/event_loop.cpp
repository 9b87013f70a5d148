#include "server/event_loop.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <new>

#include "base/check.hpp"
#include "server/server.hpp"

namespace isotherm::server {

namespace {
constexpr int kTickMs = 100;
constexpr int kEventsAtOnce = 128;
}  // namespace

event_loop::event_loop(server& home)
    : home_(home),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  ISO_CHECK(epoll_ >= 0 && wakeup_ >= 0, "no descriptors left for an event loop");
  epoll_event event{.events = EPOLLIN, .data = {.fd = wakeup_}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup_, &event);
}

event_loop::~event_loop() {
  stop();
  ::close(epoll_);
  ::close(wakeup_);
}

void event_loop::watch_listener(int fd, std::function<bool(int)> on_ready) {
  listeners_.emplace(fd, std::move(on_ready));
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
}

void event_loop::watch_listeners(bool watched) {
  listeners_watched_ = watched;
  for (const auto& [fd, on_ready] : listeners_) {
    epoll_event event{.events = watched ? std::uint32_t{EPOLLIN} : 0u, .data = {.fd = fd}};
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);
  }
}

void event_loop::start() {
  thread_ = std::jthread([this] { run(); });
}

void event_loop::stop() {
  stopping_.store_release(true);
  wake();
  if (thread_.joinable()) thread_.join();
}

void event_loop::wake() {
  const std::uint64_t one = 1;
  // A full counter wakes as well, so a short write needs no care.
  [[maybe_unused]] const ssize_t written = ::write(wakeup_, &one, sizeof one);
}

void event_loop::adopt(std::shared_ptr<client> who) {
  {
    const std::lock_guard lock(adopted_mutex_);
    adopted_.push_back(std::move(who));
  }
  wake();
}

void event_loop::run() {
  while (!stopping_.load_acquire()) wait_once();
  take_adopted();
  while (!connections_.empty()) close(*connections_.begin()->second);
}

void event_loop::wait_once() {
  epoll_event events[kEventsAtOnce];
  const int ready = ::epoll_wait(epoll_, events, kEventsAtOnce, kTickMs);
  for (int i = 0; i < ready; ++i) {
    const int fd = events[i].data.fd;
    if (fd == wakeup_) {
      std::uint64_t count;
      [[maybe_unused]] const ssize_t got = ::read(wakeup_, &count, sizeof count);
      close_idle_and_killed();
      take_adopted();
    } else if (const auto listener = listeners_.find(fd); listener != listeners_.end()) {
      // Out of descriptors: not watching until the next tick beats spinning on the same client.
      if (!listener->second(fd)) watch_listeners(false);
    } else if (const auto at = connections_.find(fd); at != connections_.end()) {
      handle(*at->second, events[i].events);
    }
  }
  answer_all();
  const std::int64_t now = store::now_ms();
  if (now < next_tick_ms_ && next_tick_ms_ - now <= kTickMs) return;
  next_tick_ms_ = now + kTickMs;
  housekeeping();
}

void event_loop::housekeeping() {
  if (!listeners_watched_) watch_listeners(true);
  close_idle_and_killed();
  if (tick_) tick_();
}

void event_loop::take_adopted() {
  std::vector<std::shared_ptr<client>> fresh;
  {
    const std::lock_guard lock(adopted_mutex_);
    fresh.swap(adopted_);
  }
  for (auto& who : fresh) {
    const int fd = who->fd;
    auto made = std::make_unique<connection>(home_, std::move(who));
    made->events = EPOLLIN;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    const bool watched = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
    connection& which = *made;
    connections_[fd] = std::move(made);
    if (!watched) close(which);
  }
}

/// After all requests of a round: a reply sent at once would wake its client while the next request
/// is run, which costs both a change of context when processors are scarce.
void event_loop::answer_all() {
  for (const int fd : answered_) {
    const auto at = connections_.find(fd);
    if (at != connections_.end()) handle(*at->second, EPOLLOUT);
  }
  answered_.clear();
}

void event_loop::handle(connection& which, std::uint32_t events) {
  bool lives = !(events & EPOLLERR);
  const bool reads = events & (EPOLLIN | EPOLLHUP);
  try {
    if (lives && events & EPOLLOUT) lives = which.on_writable();
    if (lives && reads) {
      lives = which.wants_to_read() ? which.on_readable() : !(events & EPOLLHUP);
    }
  } catch (const std::bad_alloc&) {
    lives = false;  // this client's buffers did not fit; the others' are untouched
  }
  if (!lives) return close(which);
  if (reads && which.wants_to_write()) {
    answered_.push_back(which.who().fd);
  } else {
    watch(which);
  }
}

void event_loop::watch(connection& which) {
  const std::uint32_t wanted = (which.wants_to_read() ? std::uint32_t{EPOLLIN} : 0u) |
                               (which.wants_to_write() ? std::uint32_t{EPOLLOUT} : 0u);
  if (wanted == which.events) return;
  which.events = wanted;
  epoll_event event{.events = wanted, .data = {.fd = which.who().fd}};
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, which.who().fd, &event);
}

void event_loop::close(connection& which) {
  home_.forget(which.who());
  connections_.erase(which.who().fd);  // closing the socket takes it out of the epoll set
}

void event_loop::close_idle_and_killed() {
  const auto timeout_ms = static_cast<std::int64_t>(home_.tuning().timeout_s.load_relaxed()) * 1000;
  const std::int64_t now = store::now_ms();
  std::vector<connection*> ended;
  for (const auto& [fd, each] : connections_) {
    const bool idle = timeout_ms > 0 && now - each->who().active_ms.load_relaxed() > timeout_ms;
    if (idle || each->who().killed.load_acquire()) ended.push_back(each.get());
  }
  for (connection* each : ended) close(*each);
}

}  // namespace isotherm::server
