// Reclamation in two steps. A reclaimer first seals the blocks that it finds retired with an epoch
// that it advances to at that moment: unlinking happened before retire(), retire() before the
// sealing (the list's lock), the sealing before any scope that carries the new epoch. Sealed blocks
// are freed when no open scope carries an older epoch. Sealing late, rather than reading the epoch
// in retire(), spares retire() a full fence.
#include "sync/retire.hpp"

#include <algorithm>
#include <utility>

#include "os/clock.hpp"
#include "sync/epoch.hpp"
#include "sync/retire_hook.hpp"

namespace isotherm::sync {

namespace {

constexpr std::size_t kAll = ~std::size_t{0};
/// How long leaving a scope reclaims at most.
constexpr std::uint64_t kSliceNs = 100'000;
/// A thread spends a tenth of its time on what was set aside.
constexpr std::uint64_t kAsideShare = 10;

base::atomic<std::uint64_t> unlisted{0};

/// For as long as a thread runs callbacks of retire(): scopes that these open and close do not
/// reclaim in turn, so that no chain of blocks, each retired by the one before, nests.
class reclaiming_guard {
 public:
  explicit reclaiming_guard(thread_slot& mine) noexcept : mine_(mine) {
    mine_.is_reclaiming = true;
  }
  ~reclaiming_guard() { mine_.is_reclaiming = false; }
  reclaiming_guard(const reclaiming_guard&) = delete;
  reclaiming_guard& operator=(const reclaiming_guard&) = delete;

 private:
  thread_slot& mine_;
};

/// Frees the segment's blocks, one at least, until `deadline_ns`. Looks at the clock after each:
/// whatever is told of its bytes, one may have to be read from the disk in order to be freed.
void reclaim_segment(retired_segment& segment, std::uint64_t deadline_ns) noexcept {
  do {
    const retired_block block = segment.blocks[segment.first++];
    block.reclaim(block.object);
  } while (segment.first < segment.end && os::monotonic_ns() < deadline_ns);
}

/// Frees the blocks of segments that `take` gives, `most` or a segment's more, until `deadline_ns`.
std::size_t reclaim(retired_list& list, retired_segment* (retired_list::*take)() noexcept,
                    std::size_t most, std::uint64_t deadline_ns) noexcept {
  std::size_t freed = 0;
  do {
    retired_segment* const segment = (list.*take)();
    if (!segment) break;
    const std::uint32_t first = segment->first;
    reclaim_segment(*segment, deadline_ns);
    freed += segment->first - first;
    if (segment->first < segment->end) {
      list.set_aside(segment);
    } else {
      list.recycle(segment);
    }
  } while (freed < most && os::monotonic_ns() < deadline_ns);
  return freed;
}

/// Frees the blocks that were set aside, and then those that are ready.
std::size_t reclaim_all(retired_list& list, std::size_t most, std::uint64_t deadline_ns) noexcept {
  const std::size_t freed = reclaim(list, &retired_list::take_aside, most, deadline_ns);
  const bool goes_on = freed < most && (freed == 0 || os::monotonic_ns() < deadline_ns);
  return freed +
         (goes_on ? reclaim(list, &retired_list::take_ready, most - freed, deadline_ns) : 0);
}

/// Runs `free_some(list)`, which says how many blocks it has freed, for each thread's list, while
/// there is time. Returns how many.
template <class F>
std::size_t for_each_list(std::uint64_t deadline_ns, F free_some) noexcept {
  std::size_t freed = 0;
  slots.for_each([&](thread_slot& slot) {
    if (slot.retired.blocks() == 0) return;
    if (freed == 0 || os::monotonic_ns() < deadline_ns) freed += free_some(slot.retired);
  });
  return freed;
}

}  // namespace

#if defined(ISOTHERM_TEST_HOOKS)
base::atomic<retire_hook> after_retire{nullptr};
#endif

void retire(void* object, void (*reclaim)(void*) noexcept, std::size_t bytes) noexcept {
  thread_slot& slot = slot_of_this_thread();
  if (!slot.retired.push({object, reclaim, bytes})) unlisted.fetch_add_relaxed(1);
  slot.retired_weight += kBlockWeight + bytes;
  ++slot.retired_blocks;
#if defined(ISOTHERM_TEST_HOOKS)
  if (const retire_hook hook = after_retire.load_acquire()) hook(object);
#endif
}

std::size_t reclaim_ready(std::uint64_t limit_us) noexcept {
  thread_slot& mine = slot_of_this_thread();
  if (mine.is_reclaiming) return 0;
  const reclaiming_guard reclaiming(mine);
  const std::uint64_t deadline = os::deadline_ns(limit_us);
  std::size_t freed = for_each_list(deadline, [deadline](retired_list& list) {
    // A thread may go on retiring: only what it had retired when its turn came is freed.
    return reclaim_all(list, list.blocks(), deadline);
  });
  // Blocks that the callbacks retired are this thread's.
  if (freed == 0 || os::monotonic_ns() < deadline) {
    freed += reclaim_all(mine.retired, kAll, deadline);
  }
  return freed;
}

std::size_t reclaim_aside(std::uint64_t limit_us) noexcept {
  thread_slot& mine = slot_of_this_thread();
  if (mine.is_reclaiming) return 0;
  const reclaiming_guard reclaiming(mine);
  const std::uint64_t deadline = os::deadline_ns(limit_us);
  return for_each_list(deadline, [deadline](retired_list& list) {
    return reclaim(list, &retired_list::take_aside, kAll, deadline);
  });
}

std::size_t retired_blocks() noexcept {
  std::size_t blocks = 0;
  slots.for_each([&blocks](const thread_slot& slot) { blocks += slot.retired.blocks(); });
  return blocks;
}

std::uint64_t retired_bytes() noexcept {
  std::uint64_t bytes = 0;
  slots.for_each([&bytes](const thread_slot& slot) { bytes += slot.retired.bytes(); });
  return bytes;
}

std::uint64_t unlisted_blocks() noexcept { return unlisted.load_relaxed(); }

void maybe_reclaim(thread_slot& slot) noexcept {
  if (slot.is_reclaiming) return;
  const reclaiming_guard reclaiming(slot);
  const std::size_t retired = std::exchange(slot.retired_blocks, 0);
  const std::uint64_t deadline = os::monotonic_ns() + kSliceNs;
  const std::size_t freed = reclaim(slot.retired, &retired_list::take_ready, 2 * retired, deadline);
  slot.retired.set_rest_aside();
  const std::uint64_t now = os::monotonic_ns();
  if (now >= deadline) {
    slot.owed_blocks += retired - std::min(retired, freed);
  } else if (slot.owed_blocks > 0 || now >= slot.frees_aside_from) {
    const std::size_t paid = reclaim(slot.retired, &retired_list::take_aside, kAll, deadline);
    slot.owed_blocks -= paid > 0 ? std::min(slot.owed_blocks, paid) : slot.owed_blocks;
    const std::uint64_t end = os::monotonic_ns();
    slot.frees_aside_from = end + (end - now) * (kAsideShare - 1);
  }
  // The thread pays soon what it owes, yet not with each scope: only behind open scopes does more
  // and more wait.
  slot.retired_weight = slot.owed_blocks > 0 ? kReclaimWeight - kReclaimWeight / 8 : 0;
}

}  // namespace isotherm::sync
