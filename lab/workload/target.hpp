// The target of a driver: a store of records that are named by their numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "tool/address.hpp"

namespace isotherm::workload {

class touched_keys;

using tool::address;

/// How an operation ended. Failures that end a run (connection lost, out of memory) are errors
/// instead.
enum class answer : std::uint8_t {
  done,
  missing,  ///< the key is not there
  corrupt   ///< the value is not the key's
};

/// A key, and the number by which its value can be checked.
struct item {
  std::string_view key;
  std::uint64_t number = 0;
};

/// One thread's way to the store. Not thread-safe.
class session {
 public:
  virtual ~session() = default;

  virtual base::result<answer> read(std::uint64_t number) = 0;
  virtual base::result<answer> update(std::uint64_t number) = 0;
  virtual base::result<answer> insert(std::uint64_t number) = 0;
  /// Deletes the record, which may be gone already (`missing`).
  virtual base::result<answer> remove(std::uint64_t) {
    return std::unexpected(base::error{"nothing can be deleted here: leave delete out of the mix"});
  }
  /// Adds 1 to the counter that the record has under a key of its own (counter_of()), and that
  /// begins with 1. `corrupt` when the store holds no number there.
  virtual base::result<answer> incr(std::uint64_t) {
    return std::unexpected(base::error{"nothing can be counted here: leave incr out of the mix"});
  }
  /// Reads the records, in one request where the store has one. `missing` when one is, `corrupt`
  /// when one has a wrong value.
  virtual base::result<answer> read_all(std::span<const std::uint64_t> numbers) {
    answer worst = answer::done;
    for (const std::uint64_t number : numbers) {
      const auto how = read(number);
      if (!how) return how;
      worst = std::max(worst, *how);
    }
    return worst;
  }
  /// Reads up to `records` records from `number`'s key on, in the order of keys, and marks them in
  /// `used`.
  virtual base::result<answer> scan(std::uint64_t number, unsigned records, touched_keys& used) = 0;
  /// Inserts the records `first` .. `last` - 1, many at a time where that is quicker.
  virtual base::result<void> load(std::uint64_t first, std::uint64_t last) = 0;
  /// Returns the objects that the store has read from a disk for the calling thread since that
  /// began. Major page faults of the thread are not among them.
  virtual std::uint64_t objects_read() const noexcept { return 0; }
};

/// A store. connect() is thread-safe.
class target {
 public:
  virtual ~target() = default;
  virtual base::result<std::unique_ptr<session>> connect() = 0;
  virtual bool can_scan() const noexcept = 0;
  /// The requests run in the thread that asks, so that the reads for which it waits are theirs, or
  /// in another process.
  enum class place : std::uint8_t { caller, elsewhere };
  virtual place runs_in() const noexcept = 0;
};

}  // namespace isotherm::workload
