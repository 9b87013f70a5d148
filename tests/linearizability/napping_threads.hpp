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

/// One at a time. A thread that naps is told nothing: with a signal behind each nap, the last
/// thread that is left would never end a sleep of its own.
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
      is_told = &told_;
      const std::lock_guard guard(all_.lock_);
      all_.members_.push_back(this);
    }
    ~member() {
      {
        const std::lock_guard guard(all_.lock_);
        std::erase(all_.members_, this);
      }
      is_told = nullptr;
    }
    member(const member&) = delete;
    member& operator=(const member&) = delete;

   private:
    friend class napping_threads;
    napping_threads& all_;
    const pthread_t thread_ = ::pthread_self();
    std::atomic<bool> told_{false};
  };

 private:
  void send() {
    const std::lock_guard guard(lock_);
    if (members_.empty()) return;
    member& chosen = *members_[random_.below(members_.size())];
    if (!chosen.told_.exchange(true)) ::pthread_kill(chosen.thread_, kSignal);
  }

  std::mutex lock_;
  std::vector<member*> members_;
  base::random random_;
  std::jthread sender_;
};

}  // namespace isotherm::naps
