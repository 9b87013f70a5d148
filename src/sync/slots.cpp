#include "sync/slots.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/check.hpp"
#include "os/fork.hpp"
#include "os/membarrier.hpp"

namespace isotherm::sync {

constinit scope_facts facts;  // scopes open in static initializers too
constinit thread_local thread_slot* this_thread_slot = nullptr;

namespace {

// Slots are never freed: threads may leave scopes while static destructors run.
thread_slot* slot_table = nullptr;
// Slots [0, slots_used) were claimed at some time. Raised before the new slot is entered, by a
// read-modify-write, and read behind a membarrier, like the slots themselves.
base::atomic<std::size_t> slots_used{0};

/// Nobody is amid the forking thread's own retired blocks, which the child keeps.
void lock_own_retired() {
  if (this_thread_slot) this_thread_slot->retired_lock.lock();
}
void unlock_own_retired() {
  if (this_thread_slot) this_thread_slot->retired_lock.unlock();
}

/// In a fork child the other threads are gone: their slots are free, and what they were retiring
/// may be half-written, so it is left behind.
void forget_other_threads() noexcept {
  for (std::size_t i = 0; i < slots_used.load_acquire(); ++i) {
    thread_slot& slot = slot_table[i];
    if (&slot == this_thread_slot) continue;
    ::new (&slot) thread_slot;
  }
  const std::uint64_t global = facts.global_word.load_acquire();
  facts.global_word.store_seq_cst(global & ~(kEpochStep - 1));
}

thread_slot* make_table() {
  facts.fence_is_asymmetric.store_relaxed(os::register_membarrier());
  slot_table = new thread_slot[kMaxThreads];
  os::at_fork(&lock_own_retired, &unlock_own_retired, [] {
    unlock_own_retired();
    forget_other_threads();
  });
  return slot_table;
}

thread_slot* slots() {
  static thread_slot* const table = make_table();
  return table;
}

/// Gives the slot back at thread exit. Its retired blocks stay in it, for any reclaimer. A thread
/// that ends inside a scope keeps its slot for ever: what it may see must not be freed.
void give_back(void* slot) noexcept {
  this_thread_slot = nullptr;
  auto& mine = *static_cast<thread_slot*>(slot);
  if (mine.depth == 0) mine.claimed.store_release(false);
}

/// A key of the thread library rather than a thread_local: its destructor runs behind all of those,
/// which may use scopes in theirs, and once more for a slot that another key's destructor claimed.
pthread_key_t keeper() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    ISO_CHECK(::pthread_key_create(&made, &give_back) == 0, "no thread-specific keys are left");
    return made;
  }();
  return key;
}

}  // namespace

thread_slot& claim_slot() {
  thread_slot* const table = slots();
  for (std::size_t i = 0; i < kMaxThreads; ++i) {
    bool claimed = false;
    // Acquire: pairs with the last owner's release of the slot.
    if (table[i].claimed.load_relaxed() ||
        !table[i].claimed.compare_exchange_acq_rel(claimed, true)) {
      continue;
    }
    std::size_t used = slots_used.load_relaxed();
    while (used < i + 1 && !slots_used.compare_exchange_seq_cst(used, i + 1)) {
    }
    this_thread_slot = &table[i];
    ISO_CHECK(::pthread_setspecific(keeper(), this_thread_slot) == 0, "no memory for a thread");
    return table[i];
  }
  base::check_failed(__FILE__, __LINE__, "thread slots", "more than 1024 threads use scopes");
}

std::uint64_t oldest_open_epoch(std::uint64_t otherwise) noexcept {
  std::uint64_t oldest = otherwise;
  const std::size_t used = slots_used.load_seq_cst();
  for (std::size_t i = 0; i < used; ++i) {
    // Acquire: pairs with the release in scope::leave().
    const std::uint64_t entered = slot_table[i].entered.load_acquire();
    if (entered != 0 && entered - 1 < oldest) oldest = entered - 1;
  }
  return oldest;
}

void for_each_slot(void (*visit)(thread_slot&, void*), void* context) {
  const std::size_t used = slots_used.load_acquire();
  for (std::size_t i = 0; i < used; ++i) visit(slot_table[i], context);
}

namespace {
void* const kTombstone = reinterpret_cast<void*>(std::uintptr_t{1});

std::size_t place_of(const void* slot, std::size_t mask) noexcept {
  return (reinterpret_cast<std::uintptr_t>(slot) * 0x9e3779b97f4a7c15u >> 32) & mask;
}

/// Free places and tombstones aside. Takes a copy.
[[maybe_unused]] bool are_different(std::vector<void*> members) {
  std::erase_if(members, [](const void* each) { return !each || each == kTombstone; });
  std::ranges::sort(members);
  return std::ranges::adjacent_find(members) == members.end();
}
}  // namespace

bool counted_set::insert(void* slot) {
  if (2 * (used_ + 1) > table_.size()) rehash();
  const std::size_t mask = table_.size() - 1;
  std::size_t i = place_of(slot, mask);
  for (; table_[i]; i = (i + 1) & mask) {
    if (table_[i] == slot) return false;
  }
  table_[i] = slot;
  ++used_;
  return true;
}

bool counted_set::erase(void* slot) noexcept {
  if (used_ == 0) return false;
  const std::size_t mask = table_.size() - 1;
  for (std::size_t i = place_of(slot, mask); table_[i]; i = (i + 1) & mask) {
    if (table_[i] != slot) continue;
    table_[i] = kTombstone;
    return true;
  }
  return false;
}

void counted_set::drain(count_release release) noexcept {
  constexpr std::size_t kKept = 1024;
  if (used_ == 0) return;
  ISO_EXPENSIVE(are_different(table_), "a guide would be uncounted twice");
  for (void*& member : table_) {
    if (member && member != kTombstone) release(member);
    member = nullptr;
  }
  used_ = 0;
  // Draining goes over the whole table: a scope that counted much leaves no long one to the next.
  if (table_.size() > kKept) std::vector<void*>().swap(table_);
}

/// Twice as large, or only without its tombstones where those are most of it.
void counted_set::rehash() {
  std::vector<void*> old = std::move(table_);
  const auto members = static_cast<std::size_t>(
      std::ranges::count_if(old, [](const void* each) { return each && each != kTombstone; }));
  table_.assign(std::max<std::size_t>(32, 4 * members > old.size() ? 2 * old.size() : old.size()),
                nullptr);
  used_ = 0;
  for (void* member : old) {
    if (member && member != kTombstone) insert(member);
  }
}

}  // namespace isotherm::sync
