// Reads of whole pages of a file past the page cache, many at a time. Their ends are told by a
// descriptor, for event loops: through io_uring, or by threads where the system refuses it, as many
// containers do, or has no reads in it (Linux before 5.6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/error.hpp"
#include "os/files/file.hpp"
#include "os/wake_event.hpp"

namespace isotherm::os {

/// A read of `bytes` from `offset` to `to`, all multiples of a page. The caller that starts it owns
/// it, and keeps it and `to` where they are until it has ended.
struct queued_read {
  std::byte* to = nullptr;
  std::uint64_t offset = 0;
  std::size_t bytes = 0;
  std::size_t done = 0;         ///< bytes that are there
  int error = 0;                ///< once it has ended: 0, or an errno value
  queued_read* next = nullptr;  ///< in the list where it waits
};

/// Reads that wait, the one that came first at the front. Takes no memory of its own: what has been
/// accepted does not fail for want of it.
class waiting_reads {
 public:
  bool is_empty() const noexcept { return first_ == nullptr; }
  bool is_one() const noexcept { return first_ != nullptr && first_ == last_; }
  void push_back(queued_read& one) noexcept {
    one.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &one;
    last_ = &one;
  }
  /// Null when there is none.
  queued_read* pop_front() noexcept {
    queued_read* const front = first_;
    if (front != nullptr) first_ = front->next;
    return front;
  }
  /// Takes all of another list.
  void append(waiting_reads& others) noexcept {
    while (queued_read* const each = others.pop_front()) push_back(*each);
  }

 private:
  queued_read *first_ = nullptr, *last_ = nullptr;  // the last one counts while there is a first
};

/// Used by one thread.
class read_queue {
 public:
  enum class engine : std::uint8_t {
    best,  ///< io_uring where there is one that has reads
    /// io_uring with a kernel thread that hands submitted reads to the disk, which is most of a
    /// read's work. It takes a processor while something is submitted, and until a tick or two of
    /// the kernel's later (4 to 8 ms). Queues that are opened while an earlier one's thread is
    /// known share it. Needs Linux 5.11, and before 5.13 CAP_SYS_NICE; else `best`.
    polled,
    threads  ///< a few of them
  };
  /// Makes a queue for the file of `cached`, which is opened once more. Fails where its file system
  /// has no O_DIRECT, and where there are no descriptors or threads left.
  static base::result<std::unique_ptr<read_queue>> open(const file& cached, engine chosen);
  /// Calls `perform` on up to `threads` threads of this name in place of reading. It sets
  /// queued_read::error. A disk answers 8 at once better than one after the other.
  static base::result<std::unique_ptr<read_queue>> of(std::function<void(queued_read&)> perform,
                                                      unsigned threads = 8,
                                                      const char* name = "iso-reads");

  /// Requires: all reads have ended.
  virtual ~read_queue() = default;
  read_queue(const read_queue&) = delete;
  read_queue& operator=(const read_queue&) = delete;

  /// For event loops: can be read from when reads have ended, or wake() was called, since
  /// acknowledge().
  int descriptor() const noexcept { return event_.descriptor(); }
  void acknowledge() const noexcept { event_.acknowledge(); }
  /// Waits until it can be read from, or so long.
  void wait(int milliseconds) const noexcept;
  /// Any thread.
  void wake() const noexcept { event_.wake(); }

  virtual void start(queued_read& wanted) noexcept = 0;
  /// Hands the reads that were started to the system. Those that it does not take, short of memory
  /// or of room for requests, it gets with the next call, for which descriptor() can be read from.
  virtual void submit() noexcept = 0;
  /// Takes a read that has ended; null: none has since.
  virtual queued_read* take_ended() noexcept = 0;
  static constexpr const char* kPolledName = "io_uring, polled";
  /// "io_uring", kPolledName or "threads".
  virtual const char* name() const noexcept = 0;

  /// Started, and not taken.
  std::size_t under_way() const noexcept { return under_way_; }

 protected:
  read_queue() noexcept = default;
  std::size_t under_way_ = 0;

 private:
  wake_event event_;
};

}  // namespace isotherm::os
