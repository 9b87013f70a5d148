// Which threads are inside a scope, and since which epoch.
//
//   global_word    epoch << 2 | state         one word, so that one load tells both
//   thread_slot    one per live thread        the paper's thread activity index (OBASE 4.5)
//
// Entering a scope writes the thread's own slot with a plain store and re-reads the global word
// behind a compiler barrier; a thread that changes the global word issues os::membarrier() before
// it reads the slots. Either the store was made before the barrier, and the slot is seen; or it
// comes after, and the re-read sees the new word. This is the asymmetric fence (store-load on both
// sides, paid by the rare one).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/atomic.hpp"
#include "base/claimed_list.hpp"
#include "base/spin_lock.hpp"
#include "sync/retired_list.hpp"

namespace isotherm::sync {

/// States of the migration protocol (OBASE 4.5).
enum class migration_state : std::uint64_t { inactive = 0, prepare = 1, active = 2 };

inline constexpr std::uint64_t kStateBits = 2;
inline constexpr std::uint64_t kEpochStep = std::uint64_t{1} << kStateBits;

constexpr std::uint64_t epoch_of(std::uint64_t global) noexcept { return global >> kStateBits; }
constexpr migration_state state_of(std::uint64_t global) noexcept {
  return static_cast<migration_state>(global & (kEpochStep - 1));
}

/// A guide slot that a tracking scope counted, so that leaving can uncount it.
using count_release = void (*)(void* guide_slot) noexcept;

/// The set of guide slots that this thread's outermost scope counted (the paper's TAG, 4.2). Open
/// addressing, grows. A slot's count is the number of sets that it is in, or saturated.
class counted_set {
 public:
  /// True when `slot` was not yet in the set.
  bool insert(void* slot);
  /// Forgets `slot`, whose guide is destroyed or moved while a scope counts it (pitfall 4). True
  /// when it was in the set.
  bool erase(void* slot) noexcept;
  /// Calls `release` for each member and empties the set.
  void drain(count_release release) noexcept;

 private:
  void rehash();
  std::vector<void*> table_;
  std::size_t used_ = 0;  // members and tombstones
};

/// Retired weight from which leaving a scope tries to reclaim: bytes, and a price for each block
/// that pays for the membarrier of a small one.
inline constexpr std::size_t kReclaimWeight = std::size_t{256} << 10;
inline constexpr std::size_t kBlockWeight = std::size_t{2} << 10;

/// Fields that a thread publishes (first line) and fields that only it touches (the rest).
struct alignas(base::kNoSharingBytes) thread_slot {
  /// slot_value() of the global word seen at entry, 0 outside. Written by the owner, read by the
  /// collector and by reclaimers.
  base::atomic<std::uint64_t> entered{0};
  base::atomic<bool> claimed{false};

  alignas(base::kNoSharingBytes) std::uint32_t depth = 0;
  bool tracking = false;
  bool is_reclaiming = false;  // runs callbacks of retire(): its scopes must not start over
  // Since leaving a scope last tried to reclaim: weight and blocks.
  std::size_t retired_weight = 0, retired_blocks = 0;
  std::size_t owed_blocks = 0;         // retired, ready, and not freed for want of time
  std::uint64_t frees_aside_from = 0;  // ns, of the monotonic clock
  // Guards `counted`: a thread that moves or destroys a counted guide takes it out of the set.
  base::spin_lock counted_lock;
  counted_set counted;
  retired_list retired;  // the owner pushes, any reclaimer takes
};

/// Facts that every scope reads, on a line of their own: other data that the linker would put there
/// may be written all the time. Only advancing the epoch writes it.
struct alignas(base::kNoSharingBytes) scope_facts {
  base::atomic<std::uint64_t> global_word{kEpochStep};
  base::atomic<bool> fence_is_asymmetric{false};
};
extern scope_facts facts;

/// This thread's slot, or null before its first scope. Written only by claim_slot().
extern constinit thread_local thread_slot* this_thread_slot
    __attribute__((tls_model("initial-exec")));

/// Gives this thread a slot (given back at thread exit). Aborts when memory for one is exhausted.
thread_slot& claim_slot() noexcept;
inline thread_slot& slot_of_this_thread() noexcept {
  return this_thread_slot ? *this_thread_slot : claim_slot();
}

using slot_list = base::claimed_list<thread_slot, 64>;
/// The slots of every thread that is or was.
extern slot_list slots;

/// Slot values: 0 outside, else epoch + 1.
constexpr std::uint64_t slot_value(std::uint64_t global) noexcept { return epoch_of(global) + 1; }

/// Oldest epoch that an open scope entered in, at most `otherwise`. The caller has issued a
/// membarrier after the change that it asks about.
std::uint64_t oldest_open_epoch(std::uint64_t otherwise) noexcept;

}  // namespace isotherm::sync
