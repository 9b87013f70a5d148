// A pool of threads, which its user makes as large as it needs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include "os/thread.hpp"

namespace isotherm::os {

/// Splits [0, count) into `threads` even parts; part `t` is [first, second).
constexpr std::pair<std::uint64_t, std::uint64_t> part_of(std::uint64_t count, unsigned threads,
                                                          unsigned t) noexcept {
  const auto at = [&](unsigned i) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(count) * i / threads);
  };
  return {at(t), at(t + 1)};
}

/// Threads that wait for work between stages. One owner at a time calls run(); threads are made
/// when first needed and joined by the destructor.
class thread_pool {
 public:
  thread_pool() = default;
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  /// Runs `body(t)` for t in [0, threads), t = 0 on the caller, and returns when all have. The
  /// caller also runs the parts of threads that the system does not give, so parts must not wait
  /// for each other. Throws what the first part to throw has thrown.
  void run(unsigned threads, const std::function<void(unsigned)>& body);

 private:
  void work(unsigned t);
  void run_part(const std::function<void(unsigned)>& body, unsigned t) noexcept;
  unsigned start(unsigned threads);

  std::mutex lock_;  // guards all below
  std::condition_variable wake_;
  std::condition_variable done_;
  const std::function<void(unsigned)>* body_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned wanted_ = 0;   // threads of this round, the caller included
  unsigned pending_ = 0;  // of those, still working, without the caller
  bool stop_ = false;
  std::exception_ptr thrown_;  // of this round
  std::vector<thread> threads_;
};

/// run() of a pool that lives for this call only.
inline void run_pool(unsigned threads, const std::function<void(unsigned)>& body) {
  thread_pool pool;
  pool.run(threads, body);
}

}  // namespace isotherm::os
