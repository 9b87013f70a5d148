// Reclamation in two steps. A reclaimer first seals what it finds retired with an epoch that it
// advances to at that moment: unlinking happened before retire(), retire() before the sealing (the
// slot's lock), the sealing before any scope that carries the new epoch. A sealed block is freed
// when no open scope carries an older epoch. Sealing late, rather than reading the epoch in
// retire(), spares retire() a full fence.
#include "sync/retire.hpp"

#include <algorithm>
#include <mutex>

#include "sync/epoch.hpp"
#include "sync/retire_hook.hpp"

namespace isotherm::sync {

namespace {

constexpr std::uint64_t kUnsealed = 0;

std::vector<retired_block> take_retired(thread_slot& slot) {
  std::vector<retired_block> taken;
  const std::lock_guard lock(slot.retired_lock);
  taken.swap(slot.retired);
  return taken;
}

void put_back(thread_slot& slot, const std::vector<retired_block>& blocks) {
  const std::lock_guard lock(slot.retired_lock);
  slot.retired.insert(slot.retired.end(), blocks.begin(), blocks.end());
  slot.retired_count.store_relaxed(slot.retired.size());
}

/// Seals what the slot holds, frees what may go and puts the rest back. Returns how many blocks
/// went. The slot's owner is kept waiting for a swap and an append only.
std::size_t reclaim_slot(thread_slot& slot) {
  if (slot.retired_count.load_relaxed() == 0) return 0;
  std::vector<retired_block> taken = take_retired(slot);
  const std::uint64_t sealing = advance_epoch();
  for (auto& block : taken) {
    if (block.epoch == kUnsealed) block.epoch = sealing;
  }
  const std::uint64_t oldest = oldest_open_epoch(sealing);
  const auto first_ready =
      std::partition(taken.begin(), taken.end(),
                     [oldest](const retired_block& block) { return block.epoch > oldest; });
  const std::vector<retired_block> ready(first_ready, taken.end());
  taken.erase(first_ready, taken.end());
  put_back(slot, taken);
  for (const auto& block : ready) block.reclaim(block.object);
  return ready.size();
}

}  // namespace

#if defined(ISOTHERM_SANITIZED)
base::atomic<retire_hook> after_retire{nullptr};
#endif

void retire(void* object, void (*reclaim)(void*) noexcept) noexcept {
  thread_slot& slot = this_thread_slot ? *this_thread_slot : claim_slot();
  {
    const std::lock_guard lock(slot.retired_lock);
    slot.retired.push_back({object, reclaim, kUnsealed});
    slot.retired_count.store_relaxed(slot.retired.size());
  }
#if defined(ISOTHERM_SANITIZED)
  if (const retire_hook hook = after_retire.load_acquire()) hook(object);
#endif
}

std::size_t reclaim_ready() {
  std::size_t freed = 0;
  for_each_slot(
      [](thread_slot& slot, void* sum) { *static_cast<std::size_t*>(sum) += reclaim_slot(slot); },
      &freed);
  return freed;
}

std::size_t retired_blocks() noexcept {
  std::size_t blocks = 0;
  for_each_slot(
      [](thread_slot& slot, void* sum) {
        *static_cast<std::size_t*>(sum) += slot.retired_count.load_relaxed();
      },
      &blocks);
  return blocks;
}

void maybe_reclaim(thread_slot& slot) noexcept {
  reclaim_slot(slot);
  // A scope that stays open keeps blocks; look again only when as many came as stayed.
  const std::size_t left = slot.retired_count.load_relaxed();
  slot.reclaim_due = 2 * left + kReclaimBatch;
}

}  // namespace isotherm::sync
