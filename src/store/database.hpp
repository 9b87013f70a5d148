// The key-value semantics over any index: values that expire, atomic commands, limits.
//
// Every command on one key is atomic. MSET, MSETNX, RENAME, RENAMENX, COPY and FLUSHALL are atomic
// towards every command on one key, as in Redis (stripes.hpp tells how). MGET, DEL and EXISTS with
// several keys are atomic for each key only. RENAME writes the new name before it removes the old
// one: if that fails (memory), the old one stays.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>

#include "base/sharded_counter.hpp"
#include "guide/access.hpp"
#include "index/index.hpp"
#include "os/clock.hpp"
#include "store/memory.hpp"
#include "store/record.hpp"
#include "store/stripes.hpp"

namespace isotherm::store {

/// Milliseconds since 1970.
std::int64_t now_ms() noexcept;

/// Counters of the database; read by INFO.
struct counters {
  base::sharded_counter hits, misses, expired;
};

/// Look-ups of one command, which are counted when it has been answered.
struct look_ups {
  std::int64_t hits = 0, misses = 0;
};

/// A result, or why there is none: an object on the way could not be had (access::result()). The
/// operation has changed nothing then.
template <class T>
using answer = std::expected<T, access::outcome>;

/// The purpose of a look-up. It decides whether a hit or a miss is counted (for INFO) and whether
/// its time is noted (for OBJECT IDLETIME).
enum class lookup : std::uint8_t {
  // For callers without the key's stripe.
  read,     ///< to answer with the value: counts and notes
  inspect,  ///< to answer a question about the key: counts
  peek,     ///< neither
  // For callers that hold the key's stripe, by one_key or several_keys.
  before_write,      ///< for a write that depends on the record: notes
  read_before_write  ///< for a write that answers with the old value: counts and notes
};
constexpr bool is_counted(lookup purpose) noexcept {
  return purpose != lookup::peek && purpose != lookup::before_write;
}

/// One database over one index. Thread-safe. Records are valid as long as the access that gave
/// them.
class database {
 public:
  /// `index` must outlive the database. `used_memory` answers in bytes.
  explicit database(index::any_index& index, memory_meter::probe used_memory = &allocated_bytes);

  index::any_index& index() noexcept { return index_; }
  stripes& locks() noexcept { return stripes_; }
  memory_meter& memory() noexcept { return memory_; }
  counters& counted() noexcept { return counted_; }
  void count(const look_ups& of_a_command) noexcept {
    if (of_a_command.hits != 0) counted_.hits.add(of_a_command.hits);
    if (of_a_command.misses != 0) counted_.misses.add(of_a_command.misses);
  }
  std::size_t keys() const noexcept { return index_.size(); }
  std::size_t expiring_keys() const noexcept { return expiring_.load_relaxed(); }

  /// The live record of `key`; nullopt: there is none. An expired record is removed.
  answer<std::optional<record>> find(access& inside, std::string_view key, std::int64_t now,
                                     lookup purpose);

  // For callers that hold the stripe of `key`, by one_key or several_keys.
  /// Stores `payload`, which may copy from a record that was found, and all of `value` but its
  /// payload; value.room bytes are kept free behind it. Notes the time. `no_memory`, or
  /// `incomplete` when a key on the way could not be had; the old value is then untouched. Does not
  /// read the old value.
  index::outcome put(access& inside, std::string_view key, const record& value,
                     const index::content& payload, std::int64_t now);
  /// Appends `zeros` zero bytes and `tail` to `old`, the record found for `key`: in place if it has
  /// room, otherwise in a new record with room. Fails as put() does.
  index::outcome append(access& inside, std::string_view key, const record& old, std::size_t zeros,
                        std::string_view tail, std::int64_t now);
  /// Removes `key`; true when it was present. Does not read the value.
  answer<bool> remove(access& inside, std::string_view key);
  /// Whether `key` is there and has not expired, as far as its stripe has noted its time; if so
  /// notes the time. Does not read the value.
  answer<bool> holds(access& inside, std::string_view key, std::int64_t now);
  /// Like remove(), but also false when the key had expired.
  answer<bool> remove_live(access& inside, std::string_view key, std::int64_t now);

  /// Removes everything. Reads no key.
  void clear();

  /// Seconds since `key` was last read or written; a lower bound, since keys share clocks.
  std::uint32_t idle_seconds(std::string_view key, std::int64_t now) const noexcept;

  /// Whether a key whose value a walk has not read has expired, or is gone. Locks its stripe. Need
  /// not be asked where expiring_keys() was 0 before the walk. A part of the walk: `inside` keeps
  /// what the walk has met, and adds a miss on the way to the key.
  bool has_expired(access& inside, std::string_view key, std::int64_t now);

  /// A live key; nullopt: there is none. Not uniform: goes on from where the last call ended, and,
  /// where a key that it came to was missed, from that key. Renews the access.
  answer<std::optional<std::string>> random_key(access& inside, std::int64_t now);

  struct swept {
    std::size_t looked_at = 0, removed = 0;  ///< how many keys that expire
    std::size_t living = 0;                  ///< of the first, those that have not yet expired
    double left_ms = 0;                      ///< the sum of what these have yet to live
  };
  using clock = std::uint64_t (*)() noexcept;  ///< in nanoseconds
  /// Removes expired keys until `budget_ns` of `time` have passed (at most one more key after that)
  /// or all keys that expire have been looked at; goes on where the last call ended. Reads cold
  /// keys before it locks their stripe. One thread at a time; outside of every scope.
  swept sweep_expired(std::int64_t now, std::uint64_t budget_ns, clock time = &os::thread_cpu_ns);
  /// How long keys that expire have yet to live, in the mean of those that the last sweeps have
  /// looked at; 0 where none expires. Any thread.
  std::int64_t average_ttl_ms() const noexcept;
  /// Whether a write of a key that expires also removes some expired keys: to be set while the
  /// sweep does not keep up. Any thread.
  void set_writers_sweep(bool they_do) noexcept { writers_sweep_.store_relaxed(they_do); }

 private:
  static constexpr std::size_t kClocks = std::size_t{1} << 18;
  void touch(std::string_view key, std::int64_t now) noexcept {
    auto& clock = clocks_[text_hash{}(key) % kClocks];
    const auto second = static_cast<std::uint32_t>(now / 1000);
    // Storing only on change keeps the line shared between threads that read the same key.
    if (clock.load_relaxed() != second) clock.store_relaxed(second);
  }
  answer<std::optional<record>> find_live(access& inside, std::string_view key, std::int64_t now);
  answer<std::optional<record>> find_live_in_stripe(access& inside, std::string_view key,
                                                    std::int64_t now);
  void wait_for_several(std::string_view key) noexcept;
  void sweep_beside(access& inside, stripe& held, std::int64_t now);
  bool expire(access& inside, stripe& held, const std::string& key);
  std::optional<std::string> random_key_of_piece(access& inside, std::uint64_t& cursor,
                                                 std::int64_t now);
  bool remove_due(stripe& here, const std::string& key, std::int64_t now);
  void note_left(const swept& sum) noexcept;
  void note_expiry(stripe& held, std::string_view key, std::int64_t expires_ms);

  index::any_index& index_;
  stripes stripes_;
  memory_meter memory_;
  counters counted_;
  std::unique_ptr<base::atomic<std::uint32_t>[]> clocks_;
  base::atomic<std::size_t> expiring_{0};
  base::atomic<double> mean_left_ms_{0};     // relaxed: the sweep alone writes, INFO reads a figure
  base::atomic<bool> writers_sweep_{false};  // relaxed: a writer may see a change late
  base::atomic<std::uint64_t> random_cursor_{0};
  std::size_t sweep_next_ = 0;  ///< the stripe at which sweep_expired() goes on
};

}  // namespace isotherm::store
