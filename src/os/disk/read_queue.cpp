#include "os/disk/read_queue.hpp"

#include <liburing.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <utility>
#include <vector>

#include "os/disk/ring.hpp"
#include "os/faults.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"

namespace isotherm::os {
namespace {

constexpr unsigned kRingEntries = 128;
/// Reads that wait for the kernel thread stay in the ring: as many of a page as a cold_reader has
/// under way, so that none has to be submitted again.
constexpr unsigned kPolledEntries = 1024;
constexpr unsigned kPollsForMs = 1;  // the kernel thread, after the last read; in whole ticks
constexpr std::size_t kLargestRead = std::size_t{1} << 30;

/// Takes the `result` of a read's last call, a length or a negative errno. True: the read has
/// ended.
bool take_result(queued_read& of, int result) noexcept {
  if (const int injected = injected_fault(io_call::read); injected != 0) result = -injected;
  if (result == -EINTR || result == -EAGAIN) return false;
  // The end of the file in the middle: the pages were taken before anything was put there.
  if (result == 0) result = -EIO;
  if (result < 0) {
    of.error = -result;
    return true;
  }
  of.done += static_cast<std::size_t>(result);
  return of.done >= of.bytes;
}

std::size_t next_length(const queued_read& of) noexcept {
  return std::min(of.bytes - of.done, injected_longest_read().value_or(kLargestRead));
}

/// The ring whose kernel thread further ones share; -1: none is known.
struct shared_poller {
  std::mutex mutex;
  int ring = -1;
};
shared_poller& poller() {
  static auto* const made = new shared_poller;  // outlives every static destructor
  return *made;
}

class ring_queue final : public read_queue {
 public:
  static std::unique_ptr<ring_queue> make(file direct, bool is_polled) {
    auto queue = std::make_unique<ring_queue>(std::move(direct), is_polled);
    if (queue->descriptor() < 0) return nullptr;
    if (!(is_polled ? queue->begin_polled() : queue->begin({}))) return nullptr;
    if (!ring_has(queue->ring_, {IORING_OP_READ})) return nullptr;
    if (io_uring_register_eventfd(&queue->ring_, queue->descriptor()) != 0) return nullptr;
    return queue;
  }
  ring_queue(file direct, bool is_polled) : file_(std::move(direct)), is_polled_(is_polled) {}
  ~ring_queue() override {
    if (!is_open_) return;
    const std::lock_guard lock(poller().mutex);
    if (poller().ring == ring_.ring_fd) poller().ring = -1;
    io_uring_queue_exit(&ring_);
  }

  const char* name() const noexcept override { return is_polled_ ? kPolledName : "io_uring"; }

  void start(queued_read& wanted) noexcept override {
    ++under_way_;
    started_.push_back(wanted);
  }
  void submit() noexcept override {
    while (!started_.is_empty() || io_uring_sq_ready(&ring_) > 0) {
      prepare();
      const bool is_taken = hand_over();
      if (is_taken && !is_polled_) continue;
      if (is_taken && started_.is_empty()) return;  // the thread goes on with what is in the ring
      // The system is short of memory, or the thread has yet to make room in the ring: the thread
      // that is woken submits again.
      wake();
      return;
    }
  }
  queued_read* take_ended() noexcept override {
    io_uring_cqe* completion = nullptr;
    while (io_uring_peek_cqe(&ring_, &completion) == 0) {
      auto* const read = static_cast<queued_read*>(io_uring_cqe_get_data(completion));
      const int result = completion->res;
      io_uring_cqe_seen(&ring_, completion);
      if (take_result(*read, result)) {
        --under_way_;
        return read;
      }
      started_.push_back(*read);  // the rest of it
      submit();
    }
    return nullptr;
  }

 private:
  bool begin(io_uring_params wanted) {
    if (io_uring_queue_init_params(is_polled_ ? kPolledEntries : kRingEntries, &ring_, &wanted) !=
        0)
      return false;
    is_open_ = !is_polled_ || (wanted.features & IORING_FEAT_SQPOLL_NONFIXED) != 0;
    if (!is_open_) io_uring_queue_exit(&ring_);
    return is_open_;
  }
  bool begin_polled() {
    const std::lock_guard lock(poller().mutex);
    io_uring_params wanted{};
    wanted.flags = IORING_SETUP_SQPOLL;
    wanted.sq_thread_idle = kPollsForMs;
    if (poller().ring >= 0) {
      io_uring_params shared = wanted;
      shared.flags |= IORING_SETUP_ATTACH_WQ;
      shared.wq_fd = static_cast<unsigned>(poller().ring);
      if (begin(shared)) return true;
    }
    if (!begin(wanted)) return false;
    poller().ring = ring_.ring_fd;
    return true;
  }
  /// Fills the ring's free entries.
  void prepare() noexcept {
    while (!started_.is_empty()) {
      io_uring_sqe* const request = io_uring_get_sqe(&ring_);
      if (request == nullptr) return;
      queued_read& next = *started_.pop_front();
      io_uring_prep_read(request, file_.descriptor(), next.to + next.done,
                         static_cast<unsigned>(next_length(next)), next.offset + next.done);
      io_uring_sqe_set_data(request, &next);
    }
  }
  bool hand_over() noexcept {
    if (injected_fault(io_call::submit) != 0) return false;
    const int taken = io_uring_submit(&ring_);
    return is_polled_ ? taken >= 0 : taken > 0;  // the thread may have been faster than the count
  }

  file file_;
  const bool is_polled_;
  io_uring ring_{};
  bool is_open_ = false;
  waiting_reads started_;  // that the ring had no entry for yet
};

class thread_queue final : public read_queue {
 public:
  explicit thread_queue(std::function<void(queued_read&)> perform) : perform_(std::move(perform)) {}
  ~thread_queue() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_all();
    for (thread& each : threads_) each.join();
  }

  /// False where the system gives nothing.
  base::result<void> begin(unsigned threads, const char* name) {
    if (descriptor() < 0) {
      return std::unexpected(base::system_error("cannot make an eventfd", -descriptor()));
    }
    const signals_blocked in_the_new_threads;
    for (unsigned i = 0; i < threads; ++i) {
      auto started = start_thread(name, [this] { work(); });
      if (!started && threads_.empty()) return std::unexpected(started.error());
      if (!started) break;
      threads_.push_back(std::move(*started));
    }
    return {};
  }

  const char* name() const noexcept override { return "threads"; }
  void start(queued_read& wanted) noexcept override {
    ++under_way_;
    started_.push_back(wanted);
  }
  void submit() noexcept override {
    if (started_.is_empty()) return;
    const bool is_one = started_.is_one();
    {
      const std::lock_guard lock(mutex_);
      waiting_.append(started_);
    }
    is_one ? ready_.notify_one() : ready_.notify_all();
  }
  queued_read* take_ended() noexcept override {
    const std::lock_guard lock(mutex_);
    queued_read* const first = ended_.pop_front();
    if (first != nullptr) --under_way_;
    return first;
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      ready_.wait(lock, [this] { return stopping_ || !waiting_.is_empty(); });
      if (stopping_) return;
      queued_read* const next = waiting_.pop_front();
      lock.unlock();
      perform_(*next);
      lock.lock();
      ended_.push_back(*next);
      wake();
    }
  }

  const std::function<void(queued_read&)> perform_;
  waiting_reads started_;  // the owner's
  std::mutex mutex_;       // guards all below
  std::condition_variable ready_;
  waiting_reads waiting_, ended_;
  bool stopping_ = false;
  std::vector<thread> threads_;
};

void read_whole(const file& direct, queued_read& wanted) noexcept {
  ssize_t got = 0;
  do {
    got = ::pread(direct.descriptor(), wanted.to + wanted.done, next_length(wanted),
                  static_cast<off_t>(wanted.offset + wanted.done));
  } while (!take_result(wanted, got < 0 ? -errno : static_cast<int>(got)));
}

}  // namespace

void read_queue::wait(int milliseconds) const noexcept {
  pollfd ended{.fd = event_.descriptor(), .events = POLLIN, .revents = 0};
  ::poll(&ended, 1, milliseconds);
}

base::result<std::unique_ptr<read_queue>> read_queue::open(const file& cached, engine chosen) {
  auto direct = cached.past_the_cache();
  if (!direct) return std::unexpected(direct.error());
  for (const bool is_polled : {true, false}) {
    if (chosen == engine::threads || (is_polled && chosen != engine::polled)) continue;
    if (auto again = direct->again()) {
      if (auto ring = ring_queue::make(std::move(*again), is_polled)) return ring;
    }
  }
  const auto shared = std::make_shared<file>(std::move(*direct));
  return of([shared](queued_read& wanted) { read_whole(*shared, wanted); });
}

base::result<std::unique_ptr<read_queue>> read_queue::of(std::function<void(queued_read&)> perform,
                                                         unsigned threads, const char* name) {
  auto queue = std::make_unique<thread_queue>(std::move(perform));
  if (auto started = queue->begin(threads, name); !started) return std::unexpected(started.error());
  return queue;
}

}  // namespace isotherm::os
