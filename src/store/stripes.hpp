// Locks by key: every writer holds the stripe of each key that it writes, so that read-modify-write
// commands are atomic over any index, and commands over several keys (MSET, RENAME, FLUSHALL) are
// atomic towards each other.
//
// Readers of one key take no lock. They read one word, `several`, which counts the commands over
// several keys in progress; only if it is not zero do they take the stripe too. This is enough for
// MSET to appear atomic: it raises `several` before its first write and lowers it after its last. A
// reader that sees one of the new values synchronises with that write, so that any read that starts
// later sees `several` raised (and waits for the stripe) or all new values.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/atomic.hpp"
#include "base/sleeping_lock.hpp"
#include "index/hash/keyed_hash.hpp"

namespace isotherm::store {

/// Hashes views and strings alike, so that look-ups need no copy; clients cannot predict the hash.
struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return index::hash_of(text); }
};

/// One lock, and the keys of its stripe that expire, with the time (in ms since 1970). A holder
/// does one index operation, or copies one value, and may wait for the disk meanwhile; the sweep
/// looks for expired keys for a millisecond at most.
struct alignas(base::kCacheLineBytes) stripe : base::sleeping_lock {
  std::unordered_map<std::string, std::int64_t, text_hash, std::equal_to<>> expires;  // ms
  /// The bucket of `expires` at which database::sweep_expired() goes on.
  std::size_t next_swept = 0;
};

/// All stripes. Thread-safe.
class stripes {
 public:
  static constexpr std::size_t kCount = 1024;

  stripes() : all_(std::make_unique<stripe[]>(kCount)) {}

  stripe& of(std::string_view key) noexcept { return all_[text_hash{}(key) % kCount]; }
  stripe& at(std::size_t i) noexcept { return all_[i]; }

  /// Acquire: pairs with several_keys' release of the counter (file head).
  bool several_in_progress() const noexcept { return several_.load_acquire() != 0; }

 private:
  friend class several_keys;
  std::unique_ptr<stripe[]> all_;
  alignas(base::kCacheLineBytes) base::atomic<std::uint64_t> several_{0};
};

/// Holds one key's stripe.
class one_key {
 public:
  one_key(stripes& all, std::string_view key) noexcept : stripe_(all.of(key)) { stripe_.lock(); }
  ~one_key() { stripe_.unlock(); }
  one_key(const one_key&) = delete;
  one_key& operator=(const one_key&) = delete;
  stripe& held() const noexcept { return stripe_; }

 private:
  stripe& stripe_;
};

/// Holds the stripes of several keys, or of all; locked in one order, so that no two wait for each
/// other.
class several_keys {
 public:
  several_keys(stripes& all, std::span<const std::string_view> keys, std::size_t step = 1)
      : all_(all) {
    for (std::size_t i = 0; i < keys.size(); i += step) held_.push_back(&all.of(keys[i]));
    lock();
  }
  explicit several_keys(stripes& all) : all_(all) {
    for (std::size_t i = 0; i < stripes::kCount; ++i) held_.push_back(&all.at(i));
    lock();
  }
  ~several_keys() {
    all_.several_.fetch_sub_acq_rel(1);
    for (stripe* each : held_) each->unlock();
  }
  several_keys(const several_keys&) = delete;
  several_keys& operator=(const several_keys&) = delete;

 private:
  void lock() {
    std::sort(held_.begin(), held_.end());
    held_.erase(std::unique(held_.begin(), held_.end()), held_.end());
    for (stripe* each : held_) each->lock();
    all_.several_.fetch_add_acq_rel(1);
  }
  stripes& all_;
  std::vector<stripe*> held_;
};

}  // namespace isotherm::store
