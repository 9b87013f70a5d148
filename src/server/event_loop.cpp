#include "server/event_loop.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <exception>
#include <utility>

#include "base/check.hpp"
#include "heap/upkeep.hpp"
#include "os/memory/process_memory.hpp"
#include "server/server.hpp"

namespace isotherm::server {

namespace {
constexpr int kTickMs = 100;
constexpr int kRoomTickMs = 20;  // while writers would wait for room
constexpr int kEventsAtOnce = 128;
constexpr std::uint32_t kUnwatched = ~std::uint32_t{0};  // connection::events

// The subjects of events. Clients are named by their number, which is never used again: a
// descriptor that is closed during a round may belong to another client before the round ends, and
// that client must not get the old events.
constexpr std::uint64_t kWakeup = 0;  // clients count from 1
constexpr std::uint64_t kListener = std::uint64_t{1} << 63;
constexpr std::uint64_t kArrival = std::uint64_t{1} << 62;

bool change_watch(int epoll, int operation, int fd, std::uint32_t events, std::uint64_t whose) {
  epoll_event event{.events = events, .data = {.u64 = whose}};
  return ::epoll_ctl(epoll, operation, fd, &event) == 0;
}

std::uint64_t listener_tag(int fd) noexcept { return kListener | static_cast<std::uint64_t>(fd); }

/// Whether a client's connection goes on after `work`. It does not where there is no memory for its
/// buffers; other clients are not affected.
bool lives_after(const std::function<bool()>& work) {
  try {
    return work();
  } catch (const std::exception&) {
    return false;
  }
}
}  // namespace

event_loop::event_loop(server& server)
    : server_(server),
      shared_(server.commands().callables().size()),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  ISO_CHECK(epoll_ >= 0 && wakeup_.descriptor() >= 0, "no descriptors left for an event loop");
  change_watch(epoll_, EPOLL_CTL_ADD, wakeup_.descriptor(), EPOLLIN, kWakeup);
}

event_loop::~event_loop() {
  stop();
  ::close(epoll_);
}

void event_loop::watch_listener(int fd, std::function<bool(int)> on_ready) {
  listeners_.emplace(fd, std::move(on_ready));
  change_watch(epoll_, EPOLL_CTL_ADD, fd, EPOLLIN, listener_tag(fd));
}

void event_loop::watch_listeners(std::uint32_t events) {
  listeners_watched_ = events != 0;
  for (const auto& [fd, on_ready] : listeners_) {
    change_watch(epoll_, EPOLL_CTL_MOD, fd, events, listener_tag(fd));
  }
}

base::result<void> event_loop::start() {
  // If no reader can be had, commands wait for the objects that they miss.
  if (server_.manager() != nullptr && server_.db().index().is_managed()) {
    using engine = os::read_queue::engine;
    const bool is_polled = server_.start_options().read_thread;
    if (auto made = heap::cold_reader::make(is_polled ? engine::polled : engine::best)) {
      shared_.reader = std::move(*made);
    }
  }
  if (shared_.reader)
    change_watch(epoll_, EPOLL_CTL_ADD, shared_.reader->descriptor(), EPOLLIN, kArrival);
  auto started = os::start_thread("iso-loop", [this] { run(); });
  if (!started) return std::unexpected(started.error());
  thread_ = std::move(*started);
  return {};
}

void event_loop::stop() {
  stopping_.store_release(true);
  wakeup_.wake();
  if (thread_.joinable()) thread_.join();
  if (shared_.reader) shared_.reader->leave();  // all loops' readers wait for the disk together
}

void event_loop::adopt(std::shared_ptr<client> client) {
  {
    const std::lock_guard lock(adopted_mutex_);
    adopted_.push_back(std::move(client));
  }
  wakeup_.wake();
}

void event_loop::end(std::uint64_t id) {
  {
    const std::lock_guard lock(adopted_mutex_);
    ended_.push_back(id);
  }
  wakeup_.wake();
}

void event_loop::finish(std::uint64_t id, std::optional<std::string> reply) {
  {
    const std::lock_guard lock(adopted_mutex_);
    finished_.emplace_back(id, std::move(reply));
  }
  wakeup_.wake();
}

void event_loop::run() {
  while (!stopping_.load_acquire()) wait_once();
  take_adopted();
  while (!connections_.empty()) close(*connections_.begin()->second);
}

void event_loop::wait_once() {
  epoll_event events[kEventsAtOnce];
  const int tick_ms = shared_.room.is_on() ? kRoomTickMs : kTickMs;
  const bool is_busy = !unfinished_.empty() || !released_.empty();
  const int ready = ::epoll_wait(epoll_, events, kEventsAtOnce, is_busy ? 0 : tick_ms);
  go_on(std::exchange(released_, {}));  // before others' new commands can take the room
  const std::vector<std::uint64_t> turns = std::exchange(unfinished_, {});
  for (int i = 0; i < ready; ++i) {
    const std::uint64_t whose = events[i].data.u64;
    if (whose == kWakeup) {
      wakeup_.acknowledge();
      close_ended();
      take_adopted();
      take_finished();
    } else if (whose == kArrival) {
      take_arrived();
    } else if (whose & kListener) {
      const auto fd = static_cast<int>(whose & ~kListener);
      // Out of descriptors: the listeners are not watched until the next tick, instead of spinning.
      if (!listeners_.at(fd)(fd)) watch_listeners(0);
    } else if (const auto at = connections_.find(whose); at != connections_.end()) {
      handle(*at->second, events[i].events);
    }
  }
  go_on(turns);
  if (shared_.reader) shared_.reader->submit();  // the disk is at work while replies are sent
  answer_all();
  if (shared_.reader) shared_.reader->submit();
  hold_writers_back();
  server_.hold_clients_to_limit();
  const std::int64_t now = os::monotonic_ms();
  if (now < next_tick_ms_) return;
  next_tick_ms_ = now + kTickMs;
  housekeeping();
}

void event_loop::housekeeping() {
  if (!listeners_watched_) watch_listeners(EPOLLIN);
  major_faults_.store_relaxed(os::thread_major_faults());
  close_idle();
  give_up_unanswered();
}

/// The clients of what the disk does not answer get errors.
void event_loop::give_up_unanswered() {
  if (!shared_.reader || shared_.reader->end_unanswered() == 0) return;
  take_arrived();
  shared_.reader->submit();
  answer_all();
  shared_.reader->submit();
  server_.manager()->report_problem();
}

void event_loop::take_adopted() {
  std::vector<std::shared_ptr<client>> arrived;
  {
    const std::lock_guard lock(adopted_mutex_);
    arrived.swap(adopted_);
  }
  for (auto& client : arrived) {
    auto made = std::make_unique<connection>(server_, std::move(client), shared_);
    connection& which = *made;
    which.place = by_use_.add(which.peer().id, which.peer().active_ms.load_relaxed());
    which.events = EPOLLIN;
    const bool watched =
        change_watch(epoll_, EPOLL_CTL_ADD, which.peer().fd, EPOLLIN, which.peer().id);
    connections_.emplace(which.peer().id, std::move(made));
    // It may have been killed before this loop knew it, so that close_ended() did not find it.
    if (!watched || which.peer().killed.load_acquire()) close(which);
  }
}

/// Runs the commands again whose reads have ended.
void event_loop::take_arrived() {
  shared_.reader->take_ended([this](std::uint64_t id) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) return;
    connection& which = *at->second;
    if (!lives_after([&which] { return which.on_arrival(); })) return close(which);
    follow_up(which);
  });
}

/// The next turns of those whose pipelines were not at their ends.
void event_loop::go_on(const std::vector<std::uint64_t>& turns) {
  for (const std::uint64_t id : turns) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) continue;
    connection& which = *at->second;
    which.awaits_turn = false;
    if (lives_after([&which] { return which.go_on(); })) {
      follow_up(which);
    } else {
      close(which);
    }
  }
}

/// After commands were run.
void event_loop::follow_up(connection& which) {
  give_turn(which);
  if (which.is_unfinished()) {
    by_use_.use(which.place, which.peer().active_ms.load_relaxed());
  } else if (which.wants_to_write()) {
    answered_.push_back(which.peer().id);
  } else {
    watch(which);
  }
}

void event_loop::give_turn(connection& which) {
  if (!which.wants_turn() && !which.is_held()) return;
  if (std::exchange(which.awaits_turn, true)) return;
  (which.is_held() ? held_ : unfinished_).push_back(which.peer().id);
}

/// Clients that load faster than records can leave DRAM wait, and the others do not.
void event_loop::hold_writers_back() {
  shared_.room.update();
  if (shared_.room.is_on()) return;
  released_.insert(released_.end(), held_.begin(), held_.end());
  held_.clear();
}

void event_loop::take_finished() {
  decltype(finished_) arrived;
  {
    const std::lock_guard lock(adopted_mutex_);
    arrived.swap(finished_);
  }
  for (auto& [id, reply] : arrived) {
    const auto at = connections_.find(id);
    if (at == connections_.end()) continue;
    connection& which = *at->second;
    if (!lives_after([&which, &reply] { return which.resume(std::move(reply)); })) {
      close(which);
    } else if (which.wants_turn() || which.is_held()) {
      follow_up(which);
    } else {
      watch(which);
    }
  }
}

/// Sends the replies after all requests of a round: a reply sent at once would wake its client
/// while the next request runs, which costs both a context switch when processors are scarce.
void event_loop::answer_all() {
  for (const std::uint64_t id : answered_) {
    const auto at = connections_.find(id);
    if (at != connections_.end()) handle(*at->second, EPOLLOUT);
  }
  answered_.clear();
}

void event_loop::handle(connection& which, std::uint32_t events) {
  if (which.waits_to_run() && (events & EPOLLHUP) != 0) return unwatch(which);
  const bool speaks_parked = which.is_parked() && (events & EPOLLIN) != 0;
  // Further input, the end included, waits until the commands that were read have run.
  const bool reads = !which.is_unfinished() && (events & (EPOLLIN | EPOLLHUP)) != 0;
  const bool lives = !(events & EPOLLERR) && lives_after([&which, events, reads] {
    if (events & EPOLLOUT && !which.on_writable()) return false;
    if (!reads) return true;
    return which.wants_to_read() ? which.on_readable() : !(events & EPOLLHUP);
  });
  if (!lives) return close(which);
  give_turn(which);
  if (which.is_unfinished() || (reads && which.wants_to_write())) return follow_up(which);
  speaks_parked ? update_watch(which) : watch(which);
}

/// A client that waits for its parked command sends nothing, as a rule: what is watched is changed
/// only when it does, which saves two system calls.
void event_loop::watch(connection& which) {
  by_use_.use(which.place, which.peer().active_ms.load_relaxed());
  if (which.is_parked() && !which.wants_to_write() && which.events == EPOLLIN) return;
  update_watch(which);
}

void event_loop::update_watch(connection& which) {
  const std::uint32_t wanted = (which.wants_to_read() ? std::uint32_t{EPOLLIN} : 0u) |
                               (which.wants_to_write() ? std::uint32_t{EPOLLOUT} : 0u);
  if (wanted == which.events) return;
  if (which.events == kUnwatched && wanted == 0 && which.waits_to_run()) return;
  const int change = which.events == kUnwatched ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  which.events = wanted;
  const bool is_done = change_watch(epoll_, change, which.peer().fd, wanted, which.peer().id);
  if (!is_done && change == EPOLL_CTL_ADD) close(which);  // it would never be heard of again
}

/// Its end would be reported all the time that its command waits. It is looked at when what was
/// read has run.
void event_loop::unwatch(connection& which) {
  if (which.events != kUnwatched) {
    change_watch(epoll_, EPOLL_CTL_DEL, which.peer().fd, 0, which.peer().id);
  }
  which.events = kUnwatched;
}

void event_loop::close(connection& which) {
  server_.forget(which.peer());
  by_use_.remove(which.place);
  const std::uint64_t id = which.peer().id;  // a copy: the original goes with the connection
  connections_.erase(id);                    // closing the socket takes it out of the epoll set
}

void event_loop::close_ended() {
  std::vector<std::uint64_t> arrived;
  {
    const std::lock_guard lock(adopted_mutex_);
    arrived.swap(ended_);
  }
  for (const std::uint64_t id : arrived) {
    if (const auto at = connections_.find(id); at != connections_.end()) close(*at->second);
  }
}

void event_loop::close_idle() {
  const auto timeout_ms =
      static_cast<std::int64_t>(server_.tuning().timeout_s.load_relaxed()) * 1000;
  if (timeout_ms == 0) return;
  for (const std::uint64_t id : by_use_.unused_since(os::monotonic_ms() - timeout_ms)) {
    connection& which = *connections_.at(id);
    if (!which.waits_to_run() && !which.awaits_turn) close(which);
  }
}

}  // namespace isotherm::server
