#include "sync/slots.hpp"

#include <pthread.h>

#include <algorithm>
#include <memory>
#include <new>

#include "base/check.hpp"
#include "os/fork.hpp"
#include "os/membarrier.hpp"
#include "sync/epoch.hpp"

namespace isotherm::sync {

constinit scope_facts facts;  // scopes open in static initializers too
constinit thread_local thread_slot* this_thread_slot = nullptr;

namespace {

/// While the process forks no thread is amid a change of what the child keeps: the forking thread's
/// own slot, and the reserve for retired blocks.
void lock_for_child() {
  if (this_thread_slot) {
    this_thread_slot->counted_lock.lock();
    this_thread_slot->retired.lock_for_fork();
  }
  retired_list::lock_reserve();
}

void unlock_in_parent() {
  retired_list::unlock_reserve();
  if (!this_thread_slot) return;
  this_thread_slot->retired.unlock_in_parent();
  this_thread_slot->counted_lock.unlock();
}

/// The other threads are gone: their slots are free, and what they were retiring may be
/// half-written, so it is left behind.
void unlock_in_child() {
  retired_list::unlock_reserve();
  if (this_thread_slot) {
    this_thread_slot->retired.unlock_in_child();
    this_thread_slot->counted_lock.unlock();
  }
  slots.for_each([](thread_slot& slot) {
    if (&slot != this_thread_slot) ::new (&slot) thread_slot;
  });
  forget_migration();
}

bool prepare() noexcept {
  facts.fence_is_asymmetric.store_relaxed(os::register_membarrier());
  os::at_fork(&lock_for_child, &unlock_in_parent, &unlock_in_child);
  return true;
}

/// Gives the slot back at thread exit. Its retired blocks stay in it, for any reclaimer. A thread
/// that ends inside a scope keeps its slot for ever: what it may see must not be freed.
void give_back(void* slot) noexcept {
  this_thread_slot = nullptr;
  auto& mine = *static_cast<thread_slot*>(slot);
  if (mine.depth == 0) slot_list::give_back(mine);
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

constinit slot_list slots;

thread_slot& claim_slot() noexcept {
  [[maybe_unused]] static const bool is_prepared = prepare();
  thread_slot* const mine = slots.claim();
  ISO_CHECK(mine != nullptr, "no memory for a thread that opens its first scope");
  this_thread_slot = mine;
  ISO_CHECK(::pthread_setspecific(keeper(), mine) == 0, "no memory for a thread");
  return *mine;
}

// A slot is counted among those in use before it is first entered, by a read-modify-write, and the
// count is read behind a membarrier, like the slots themselves: no open scope is missed.
std::uint64_t oldest_open_epoch(std::uint64_t otherwise) noexcept {
  std::uint64_t oldest = otherwise;
  slots.for_each([&oldest](const thread_slot& slot) {
    // Acquire: pairs with the release in scope::leave().
    const std::uint64_t entered = slot.entered.load_acquire();
    if (entered != 0 && entered - 1 < oldest) oldest = entered - 1;
  });
  return oldest;
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
  const auto members = static_cast<std::size_t>(
      std::ranges::count_if(table_, [](const void* each) { return each && each != kTombstone; }));
  std::vector<void*> other(
      std::max<std::size_t>(32, 4 * members > table_.size() ? 2 * table_.size() : table_.size()));
  table_.swap(other);  // nothing has changed where there was no memory
  used_ = 0;
  for (void* member : other) {
    if (member && member != kTombstone) insert(member);
  }
}

}  // namespace isotherm::sync
