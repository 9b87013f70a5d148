// Reclamation in two steps. A reclaimer first seals what it finds retired with an epoch that it
// advances to at that moment: unlinking happened before retire(), retire() before the sealing (the
// list's lock), the sealing before any scope that carries the new epoch. What is sealed is freed
// when no open scope carries an older epoch. Sealing late, rather than reading the epoch in
// retire(), spares retire() a full fence.
#include "sync/retire.hpp"

#include "os/clock.hpp"
#include "sync/epoch.hpp"
#include "sync/retire_hook.hpp"

namespace isotherm::sync {

namespace {

constexpr std::size_t kAll = ~std::size_t{0};
/// How long leaving a scope reclaims at most: what one stuck scope made wait is worked off in
/// pieces.
constexpr std::uint64_t kSliceNs = 100'000;

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

/// Frees what is ready of the list, oldest first, `most` blocks or a few more, until `deadline_ns`.
std::size_t reclaim(retired_list& list, std::size_t most, std::uint64_t deadline_ns) noexcept {
  std::size_t freed = 0;
  do {
    retired_segment* const segment = list.take_ready();
    if (!segment) break;
    const std::uint32_t first = segment->first;
    reclaim_segment(*segment, deadline_ns);
    freed += segment->first - first;
    if (segment->first < segment->end) {
      list.put_back(segment);
    } else {
      list.recycle(segment);
    }
  } while (freed < most && os::monotonic_ns() < deadline_ns);
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
#if defined(ISOTHERM_TEST_HOOKS)
  if (const retire_hook hook = after_retire.load_acquire()) hook(object);
#endif
}

std::size_t reclaim_ready(std::uint64_t limit_us) noexcept {
  thread_slot& mine = slot_of_this_thread();
  if (mine.is_reclaiming) return 0;
  const reclaiming_guard reclaiming(mine);
  const std::uint64_t deadline = os::deadline_ns(limit_us);
  std::size_t freed = 0;
  const auto goes_on = [&] { return freed == 0 || os::monotonic_ns() < deadline; };
  // Of a thread that goes on retiring, what it had retired when its turn came.
  slots.for_each([&](thread_slot& slot) {
    const std::size_t waiting = slot.retired.blocks();
    if (waiting > 0 && goes_on()) freed += reclaim(slot.retired, waiting, deadline);
  });
  // What the callbacks retired is this thread's.
  if (goes_on()) freed += reclaim(mine.retired, kAll, deadline);
  return freed;
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
  const std::uint64_t deadline = os::monotonic_ns() + kSliceNs;
  reclaim(slot.retired, kAll, deadline);
  // Of a slice that was not enough the rest follows soon, yet not with each scope.
  const bool is_out_of_time = os::monotonic_ns() >= deadline;
  slot.retired_weight = is_out_of_time ? kReclaimWeight - kReclaimWeight / 8 : 0;
}

}  // namespace isotherm::sync
