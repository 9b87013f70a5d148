#include "guide/soda.hpp"

#include <array>
#include <bit>
#include <memory>

#include "base/check.hpp"
#include "base/spin_lock.hpp"
#include "guide/registry.hpp"
#include "os/fork.hpp"
#include "sync/retire.hpp"
#include "sync/scope.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::guides {

namespace {

constexpr unsigned kSlotShift = 3;     // a slot is 8 bytes
constexpr unsigned kGranuleShift = 9;  // 64 slots, one bitmap word
constexpr unsigned kBlockShift = 21;   // 2 MiB of addresses
constexpr unsigned kLeafBits = 13;
constexpr unsigned kRootBits = kAddressBits - kBlockShift - kLeafBits;
constexpr std::size_t kGranules = std::size_t{1} << (kBlockShift - kGranuleShift);
constexpr std::int64_t kDead = std::int64_t{-1} << 40;

/// Bits of 2 MiB of addresses.
/// population = registered bits + registrations in flight; kDead (and a little above) once given
/// back, which no registration survives.
struct block {
  explicit block(std::uintptr_t first) noexcept : base(first) {}
  const std::uintptr_t base;
  base::atomic<std::int64_t> population{0};
  std::array<base::atomic<std::uint64_t>, kGranules> registered{};
  std::array<base::atomic<std::uint64_t>, kGranules> due{};
};

/// Directory: root -> leaf -> block. Leaves cover 16 GiB each and stay.
using leaf = std::array<base::atomic<block*>, std::size_t{1} << kLeafBits>;
std::array<base::atomic<leaf*>, std::size_t{1} << kRootBits> root{};
base::atomic<std::size_t> directory_bytes{0};

/// The slots that the collector looks at or moves: the address of a slot, or of a granule's first
/// slot | kWholeGranule; 0 for nothing. Written twice for each visit. kAwaited: a thread sleeps
/// until it changes.
constexpr std::uintptr_t kWholeGranule = 1, kAwaited = 2;
base::apart<base::atomic<std::uintptr_t>> hazard{};

struct place {
  explicit place(const void* slot) noexcept : address(reinterpret_cast<std::uintptr_t>(slot)) {
    ISO_ASSERT(address % 8 == 0 && address >> kAddressBits == 0, "not the address of a guide");
  }
  std::size_t granule() const noexcept { return (address >> kGranuleShift) & (kGranules - 1); }
  std::uintptr_t granule_address() const noexcept {
    return address >> kGranuleShift << kGranuleShift;
  }
  bool is_named_by(std::uintptr_t in_hand) const noexcept {
    in_hand &= ~kAwaited;
    return in_hand == address || in_hand == (granule_address() | kWholeGranule);
  }
  std::uint64_t bit() const noexcept { return std::uint64_t{1} << ((address >> kSlotShift) & 63); }
  std::uintptr_t address;
};

/// In a fork child there is no collector, whatever it was looking at when the process forked.
void forget_hazard() noexcept { hazard.value.store_release(0); }

/// The directory's entry for an address; makes the leaf on demand.
base::atomic<block*>& entry_of(std::uintptr_t address) {
  auto& top = root[address >> (kBlockShift + kLeafBits)];
  leaf* below = top.load_acquire();
  if (!below) {
    [[maybe_unused]] static const bool registered = [] {
      os::at_fork(nullptr, nullptr, &forget_hazard);
      return true;
    }();
    auto made = std::make_unique<leaf>();
    // Release publishes the zeroed leaf; a loser of the race takes the winner's.
    if (top.compare_exchange_acq_rel(below, made.get())) {
      below = made.release();
      directory_bytes.fetch_add_relaxed(sizeof(leaf));
    }
  }
  return (*below)[(address >> kBlockShift) & ((std::size_t{1} << kLeafBits) - 1)];
}

block* find_block(std::uintptr_t address) noexcept {
  leaf* below = root[address >> (kBlockShift + kLeafBits)].load_acquire();
  if (!below) return nullptr;
  return (*below)[(address >> kBlockShift) & ((std::size_t{1} << kLeafBits) - 1)].load_acquire();
}

/// A block with one registration in flight (population raised), made on demand. Inside a scope.
block& enter_block(std::uintptr_t address) {
  auto& entry = entry_of(address);
  for (base::backoff wait;; wait()) {
    block* found = entry.load_acquire();
    if (!found) {
      auto made = std::make_unique<block>(address >> kBlockShift << kBlockShift);
      if (entry.compare_exchange_acq_rel(found, made.get())) {
        directory_bytes.fetch_add_relaxed(sizeof(block));
        found = made.release();
      }
    }
    // Below zero it is given back at this moment: the collector is about to empty the entry, unless
    // it lost its processor just there.
    if (found->population.fetch_add_acq_rel(1) >= 0) return *found;
  }
}

/// Returns when the collector does not, or no longer, look at the slot. The slot's bits are clear,
/// so that it will not come again.
void wait_for_visit(slot_word& slot, const place& at) noexcept {
  std::uintptr_t in_hand = hazard.value.load_seq_cst();
  if (!at.is_named_by(in_hand)) return;
  // A copy in flight is in vain: that its word changes tells the collector to leave off.
  for (word seen = slot.load_relaxed();
       !is_null(seen) && !slot.compare_exchange_acq_rel(seen, marked(seen));) {
  }
  sync::pause_at(sync::step::awaits_visit, &slot);
  constexpr unsigned kSpins = 256;  // as long as a small object's copy takes
  for (unsigned round = 0; at.is_named_by(in_hand); in_hand = hazard.value.load_seq_cst()) {
    if (round++ < kSpins) {
      base::spin_pause();
    } else if (in_hand & kAwaited ||
               hazard.value.compare_exchange_seq_cst(in_hand, in_hand | kAwaited)) {
      hazard.value.wait_relaxed(in_hand | kAwaited);
    }
  }
}

/// Publishes a slot, or a granule, for the time of its life; inside a scope, so that blocks and
/// objects stay.
class hazard_guard {
 public:
  explicit hazard_guard(std::uintptr_t in_hand) noexcept {
    sync::pause_at(sync::step::visiting, reinterpret_cast<const void*>(in_hand & ~kWholeGranule));
    hazard.value.exchange_seq_cst(in_hand);
  }
  ~hazard_guard() {
    // Release: what was written to the slot happens before its owner goes on.
    if (hazard.value.exchange_acq_rel(0) & kAwaited) hazard.value.notify_all();
  }
  hazard_guard(const hazard_guard&) = delete;
  hazard_guard& operator=(const hazard_guard&) = delete;
};

/// Clears the due bit, unless the object was used, or replaced by a warm one, since the verdict.
/// The order (clear, then look) meets mark() and exchange() in guide.cpp (change the word, then
/// look at the bit): one sees the other.
void drop_due(block& in, std::size_t granule, std::uint64_t bit, slot_word& slot) noexcept {
  in.due[granule].fetch_and_seq_cst(~bit);
  const word now = slot.load_seq_cst();
  if (is_null(now)) return;
  if (is_accessed(now) || heap_of(now) != heap::kind::cold) in.due[granule].fetch_or_seq_cst(bit);
}

slot_word& slot_at(const block& in, std::size_t granule, unsigned index) noexcept {
  const std::uintptr_t address =
      in.base + (granule << kGranuleShift) + (std::uintptr_t{index} << kSlotShift);
  return *reinterpret_cast<slot_word*>(address);
}

using bitmap = std::array<base::atomic<std::uint64_t>, kGranules>;

std::size_t visit_granule(block& in, std::size_t granule, bitmap& which, slot_visitor& visitor) {
  const sync::scope inside;
  const hazard_guard guard((in.base + (granule << kGranuleShift)) | kWholeGranule);
  std::uint64_t bits = which[granule].load_seq_cst() & in.registered[granule].load_seq_cst();
  const auto visited = static_cast<std::size_t>(std::popcount(bits));
  for (std::uint64_t ahead = bits; ahead; ahead &= ahead - 1) {
    const auto index = static_cast<unsigned>(std::countr_zero(ahead));
    visitor.expect(slot_at(in, granule, index).load_relaxed());
  }
  for (; bits; bits &= bits - 1) {
    slot_word& slot = slot_at(in, granule, static_cast<unsigned>(std::countr_zero(bits)));
    if (visitor.visit(slot) == verdict::drop_due) drop_due(in, granule, bits & -bits, slot);
  }
  return visited;
}

/// From the block of address `from` on, until `visit` returns false.
template <class Visit>
void for_each_block(std::uintptr_t from, Visit&& visit) {
  constexpr unsigned kTopShift = kBlockShift + kLeafBits;
  std::size_t first = (from >> kBlockShift) & ((std::size_t{1} << kLeafBits) - 1);
  for (std::size_t top = from >> kTopShift; top < root.size(); ++top, first = 0) {
    leaf* below = root[top].load_acquire();
    if (!below) continue;
    for (std::size_t i = first; i < below->size(); ++i) {
      block* found = (*below)[i].load_acquire();
      if (found && !visit((*below)[i], *found)) return;
    }
  }
}

std::size_t visit_some(bitmap block::* which, slot_visitor& visitor, progress& so_far) {
  std::size_t visited = 0;
  so_far.is_over = true;
  // Only the collector gives blocks back, so those found here stay.
  for_each_block(so_far.next, [&](auto&, block& in) {
    const bool is_amid = so_far.next > in.base;
    for (std::size_t granule = is_amid ? (so_far.next - in.base) >> kGranuleShift : 0;
         granule < kGranules; ++granule) {
      if ((in.*which)[granule].load_relaxed() == 0) continue;
      if (visitor.wants_pause()) {
        so_far = {in.base + (granule << kGranuleShift), false};
        return false;
      }
      visited += visit_granule(in, granule, in.*which, visitor);
    }
    return true;
  });
  return visited;
}

}  // namespace

void register_slot(const slot_word* slot) noexcept {
  const place at(slot);
  const sync::scope inside;  // keeps the block that is found
  if (block* known = find_block(at.address)) {
    // Seq_cst: after the change of the slot's word, see drop_due().
    if (known->registered[at.granule()].load_seq_cst() & at.bit()) {
      if (!(known->due[at.granule()].load_seq_cst() & at.bit())) {
        known->due[at.granule()].fetch_or_seq_cst(at.bit());
      }
      return;
    }
  }
  block& in = enter_block(at.address);
  const std::uint64_t before = in.registered[at.granule()].fetch_or_seq_cst(at.bit());
  if (before & at.bit()) in.population.fetch_sub_acq_rel(1);
  in.due[at.granule()].fetch_or_seq_cst(at.bit());
}

bool is_registered(const slot_word* slot) noexcept {
  const place at(slot);
  const sync::scope inside;
  const block* in = find_block(at.address);
  return in && (in->registered[at.granule()].load_acquire() & at.bit());
}

void unregister_slot(const slot_word* slot) noexcept {
  const place at(slot);
  block* in = find_block(at.address);
  if (!in) return;
  in->due[at.granule()].fetch_and_seq_cst(~at.bit());
  const std::uint64_t before = in->registered[at.granule()].fetch_and_seq_cst(~at.bit());
  wait_for_visit(*const_cast<slot_word*>(slot), at);
  // The collector may have put the due bit back before it was seen leaving.
  in->due[at.granule()].fetch_and_seq_cst(~at.bit());
  if (before & at.bit()) in->population.fetch_sub_acq_rel(1);  // last: the block may go now
}

void report_cold_access(const slot_word* slot) noexcept {
  const place at(slot);
  block* in = find_block(at.address);
  if (!in) return;
  if (!(in->due[at.granule()].load_seq_cst() & at.bit())) {
    in->due[at.granule()].fetch_or_seq_cst(at.bit());
  }
}

std::size_t visit_due(slot_visitor& visitor, progress& so_far) {
  return visit_some(&block::due, visitor, so_far);
}
std::size_t visit_registered(slot_visitor& visitor, progress& so_far) {
  return visit_some(&block::registered, visitor, so_far);
}
std::size_t visit_due(slot_visitor& visitor) {
  progress all;
  return visit_due(visitor, all);
}
std::size_t visit_registered(slot_visitor& visitor) {
  progress all;
  return visit_registered(visitor, all);
}

bool visit_one(slot_word* slot, slot_visitor& visitor) {
  const place at(slot);
  const sync::scope inside;
  const hazard_guard guard(at.address);
  block* in = find_block(at.address);
  if (!in || !(in->registered[at.granule()].load_seq_cst() & at.bit())) return false;
  if (visitor.visit(*slot) == verdict::drop_due) drop_due(*in, at.granule(), at.bit(), *slot);
  return true;
}

std::size_t free_empty_blocks() {
  std::size_t freed = 0;
  for_each_block(0, [&freed](base::atomic<block*>& entry, block& in) {
    std::int64_t nobody = 0;
    if (!in.population.compare_exchange_acq_rel(nobody, kDead)) return true;
    entry.store_release(nullptr);
    directory_bytes.fetch_sub_relaxed(sizeof(block));
    sync::retire(&in, [](void* empty) noexcept { delete static_cast<block*>(empty); });
    ++freed;
    return true;
  });
  return freed;
}

std::size_t soda_bytes() noexcept { return sizeof(root) + directory_bytes.load_relaxed(); }

std::size_t registered_slots() noexcept {
  std::size_t slots = 0;
  for_each_block(0, [&slots](auto&, block& in) {
    slots += static_cast<std::size_t>(in.population.load_relaxed());
    return true;
  });
  return slots;
}

}  // namespace isotherm::guides
