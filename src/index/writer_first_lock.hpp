// The lock of the coarse structures. std::shared_mutex lets readers in as long as there are any, so
// that two busy readers keep writers out for seconds; here a waiting writer goes first. A thread
// tries for some microseconds before it sleeps: the guarded sections are shorter than a wake-up.
#pragma once

#include <pthread.h>

#include "base/atomic.hpp"
#include "base/check.hpp"

namespace isotherm::index {

/// A reader-writer lock for std::lock_guard and std::shared_lock. A reader must not lock it again.
class writer_first_lock {
 public:
  writer_first_lock() noexcept {
    pthread_rwlockattr_t kind;
    pthread_rwlockattr_init(&kind);
    pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    ISO_CHECK(pthread_rwlock_init(&lock_, &kind) == 0, "no memory for a lock");
    pthread_rwlockattr_destroy(&kind);
  }
  ~writer_first_lock() { pthread_rwlock_destroy(&lock_); }
  writer_first_lock(const writer_first_lock&) = delete;
  writer_first_lock& operator=(const writer_first_lock&) = delete;

  void lock() noexcept {
    if (!try_for_a_while(pthread_rwlock_trywrlock)) pthread_rwlock_wrlock(&lock_);
  }
  void unlock() noexcept { pthread_rwlock_unlock(&lock_); }
  void lock_shared() noexcept {
    if (!try_for_a_while(pthread_rwlock_tryrdlock)) pthread_rwlock_rdlock(&lock_);
  }
  void unlock_shared() noexcept { pthread_rwlock_unlock(&lock_); }

 private:
  /// About eight microseconds, the time that it takes to fall asleep and be woken.
  static constexpr int kTries = 512;

  bool try_for_a_while(int (*try_lock)(pthread_rwlock_t*)) noexcept {
    for (int tries = 0; tries < kTries; ++tries) {
      if (try_lock(&lock_) == 0) return true;
      base::spin_pause();
    }
    return false;
  }

  pthread_rwlock_t lock_;
};

}  // namespace isotherm::index
