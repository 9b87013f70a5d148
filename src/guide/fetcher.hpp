// Reads objects that have left DRAM for a program that does not want to wait for them:
//
//   isotherm::scope inside;
//   auto found = g.try_get(inside);
//   if (found) return use(*found);
//   fetcher.fetch(std::move(found.error()), [&] { start over; });      // called by run()
//
//   co_await fetcher.fetch(std::move(found.error()));                   // the same in a coroutine,
//                                                                       // with no scope open
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <unordered_map>

#include "base/check.hpp"
#include "base/error.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/reader.hpp"
#include "sync/scope.hpp"

namespace isotherm {

/// One thread's. Several may exist; what two of them ask for is read once.
class fetcher {
 public:
  using ticket = std::uint64_t;

  /// Fails where the system has no descriptors or threads left, and in a fork child.
  static base::result<fetcher> make();
  fetcher(fetcher&&) noexcept = default;
  fetcher& operator=(fetcher&&) noexcept = default;
  /// Drops the callbacks that wait. Waits some seconds for reads that are under way.
  ~fetcher() = default;

  /// Reads what a try_get() of this thread has missed. run() calls `then` when that has ended, well
  /// or badly, outside of every scope; a try_get() or get() in it finds the object, which comes
  /// back to HOT. It must not be called within a scope for what it then waits for: an open scope
  /// holds the collector up.
  ticket fetch(heap::miss&& missed, std::function<void()> then);
  /// `then` of that ticket is not called any more. Not from within it.
  void cancel(ticket which) noexcept { waiting_.erase(which); }

  /// For co_await: resumes the coroutine from run(). The fetcher must stay where it is meanwhile; a
  /// coroutine that is destroyed while it waits is not resumed.
  class arrival {
   public:
    arrival(fetcher& by, heap::miss&& missed) noexcept : by_(by), missed_(std::move(missed)) {}
    ~arrival() {
      if (ticket_ != 0) by_.cancel(ticket_);
    }
    arrival(const arrival&) = delete;
    arrival& operator=(const arrival&) = delete;

    static bool await_ready() noexcept { return false; }
    void await_suspend(std::coroutine_handle<> waits) {
      ISO_ASSERT(!sync::scope::is_open(), "a coroutine waits outside of every scope");
      ticket_ = by_.fetch(std::move(missed_), [waits] { waits.resume(); });
    }
    void await_resume() noexcept { ticket_ = 0; }

   private:
    fetcher& by_;
    heap::miss missed_;
    ticket ticket_ = 0;  // while it waits
  };
  arrival fetch(heap::miss&& missed) noexcept { return {*this, std::move(missed)}; }

  /// Calls the callbacks of reads that have ended; returns how many. An exception of one is passed
  /// on; the next call goes on behind it.
  std::size_t run();
  /// Waits until a read has ended, or so long, and runs.
  std::size_t run_within(int milliseconds);
  /// Can be read from when run() has something to do: for poll() and its like.
  int descriptor() const noexcept { return reader_->descriptor(); }
  /// Fetches that have not ended.
  std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct pending {
    std::shared_ptr<const heap::cold_read> read;
    std::function<void()> then;
  };
  explicit fetcher(std::unique_ptr<heap::cold_reader> reader) : reader_(std::move(reader)) {}

  std::unique_ptr<heap::cold_reader> reader_;
  std::unordered_map<ticket, pending> waiting_;
  std::deque<ticket> ended_;  // to be called
  ticket next_ = 1;
};

}  // namespace isotherm
