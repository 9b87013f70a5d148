// A store that a trace is replayed on.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/error.hpp"
#include "lab/workload/target.hpp"
#include "lab/workload/touched.hpp"

namespace isotherm::replay {

using workload::answer;
using workload::item;

/// One thread's way to the store. Not thread-safe. Errors end the replay; `missing` and `corrupt`
/// are counted.
class session {
 public:
  virtual ~session() = default;
  virtual base::result<answer> get(const item& of) = 0;
  /// `ttl_ms` 0: the value does not expire. Otherwise the store must be able to expire().
  virtual base::result<answer> set(const item& of, std::uint32_t bytes, std::uint64_t ttl_ms) = 0;
  virtual base::result<answer> remove(const item& of) = 0;
  /// Adds 1; an absent key becomes 1. `missing`: the value is no number, and stays.
  virtual base::result<answer> incr(const item& of) = 0;
  /// Reads up to `records` records from the key on, and marks them in `used`.
  virtual base::result<answer> seek(const item& from, std::uint32_t records,
                                    workload::touched_keys& used) = 0;
  /// Objects that the store has read from a disk for the calling thread.
  virtual std::uint64_t objects_read() const noexcept { return 0; }
};

/// A store. connect() is thread-safe.
class store {
 public:
  virtual ~store() = default;
  virtual base::result<std::unique_ptr<session>> connect() = 0;
  virtual bool can_seek() const noexcept = 0;
  /// Whether it removes expired values itself.
  virtual bool can_expire() const noexcept = 0;
  virtual workload::target::place runs_in() const noexcept = 0;
};

}  // namespace isotherm::replay
