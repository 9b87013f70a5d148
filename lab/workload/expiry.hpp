// Values that expire by the driver's clock, for stores that do not do that themselves.
#pragma once

#include <cstdint>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "lab/workload/target.hpp"

namespace isotherm::workload {

/// The times at which the keys of one thread expire. Not thread-safe.
class expiry_times {
 public:
  /// The value of the key expires at this time, and no longer at another; 0: never.
  void set(const item& of, std::uint64_t expires_us) {
    if (expires_us == 0) {
      due_.erase(of.number);
      return;
    }
    due_[of.number] = expires_us;
    queue_.push({expires_us, of.number, std::string(of.key)});
  }
  /// Calls `remove` with each key that has expired by `now_us`, the earliest first. It returns a
  /// result, whose error ends this.
  template <class Remove>
  base::result<void> run(std::uint64_t now_us, const Remove& remove) {
    while (!queue_.empty() && queue_.top().expires_us <= now_us) {
      const entry next = queue_.top();
      queue_.pop();
      const auto at = due_.find(next.number);
      if (at == due_.end() || at->second != next.expires_us) continue;  // set anew, or deleted
      due_.erase(at);
      if (auto how = remove(item{next.key, next.number}); !how) return how;
    }
    return {};
  }

 private:
  struct entry {
    std::uint64_t expires_us = 0;
    std::uint64_t number = 0;
    std::string key;
    bool operator<(const entry& other) const noexcept { return expires_us > other.expires_us; }
  };

  std::priority_queue<entry> queue_;
  std::unordered_map<std::uint64_t, std::uint64_t> due_;  ///< by number, microseconds
};

}  // namespace isotherm::workload
