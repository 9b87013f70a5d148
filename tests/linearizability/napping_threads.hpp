// Sends threads to sleep at random (naps.hpp).
#pragma once

#include <pthread.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.hpp"
#include "base/random.hpp"
#include "linearizability/naps.hpp"

namespace isotherm::naps {

/// One at a time.
class napping_threads {
 public:
  explicit napping_threads(std::uint64_t chosen_seed) : random_(chosen_seed) {
    ISO_CHECK(install(chosen_seed), "no handler for the pauses");
    sender_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        send();
        wait_a_little();
      }
    });
  }

  /// The thread that made it is one of them for its life.
  class member {
   public:
    explicit member(napping_threads& all) : all_(all) {
      const std::lock_guard guard(all_.lock_);
      all_.threads_.push_back(::pthread_self());
    }
    ~member() {
      const std::lock_guard guard(all_.lock_);
      std::erase(all_.threads_, ::pthread_self());
    }
    member(const member&) = delete;
    member& operator=(const member&) = delete;

   private:
    napping_threads& all_;
  };

 private:
  void send() {
    const std::lock_guard guard(lock_);
    if (!threads_.empty()) ::pthread_kill(threads_[random_.below(threads_.size())], kSignal);
  }

  std::mutex lock_;
  std::vector<pthread_t> threads_;
  base::random random_;
  std::jthread sender_;
};

}  // namespace isotherm::naps
