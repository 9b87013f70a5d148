#include "guide/fetched.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/words.hpp"
#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/header.hpp"
#include "heap/readable.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::guides {
namespace {

// Release by who sets it, acquire by who asks: the policy is complete.
constinit base::atomic<return_policy*> chosen_policy{nullptr};

/// Whether a read that ended so says that the disk does not give the pages. Other errors are of the
/// way that was taken (no memory; an old system, or one that reads this file otherwise): a mapping
/// may still give them.
bool is_lost(int error) noexcept {
  constexpr int kOfTheDisk[] = {EIO,     ENXIO,     ENODEV,    ENODATA, EBADMSG,
                                EUCLEAN, EREMOTEIO, ETIMEDOUT, ESTALE,  ENOLINK};
  return std::ranges::find(kOfTheDisk, error) != std::end(kOfTheDisk);
}

void free_object(void* gone) noexcept { heap::deallocate(gone, heap::recycling::none); }

/// The history that the object is to have in HOT; nullopt: it stays in COLD.
std::optional<unsigned> admitted(word w, std::size_t bytes, heap::used_before before) noexcept {
  return_policy* const policy = chosen_policy.load_acquire();
  if (policy == nullptr) return history_of(w);
  return policy->admit(w, bytes, before);
}

/// Puts a copy in HOT in the place of the object of `seen`, with the history `admitted`. An object
/// that the policy did not admit keeps the history it had, and its copy grows the process like a
/// new object: the thread owes the wait for room (heap/upkeep.hpp). Returns null when the slot has
/// changed, and `seen` is what it holds, or when HOT is full.
void* commit_fetched(base::atomic<word>& slot, word& seen, const void* copy,
                     std::optional<unsigned> admitted) {
  const std::size_t bytes = heap::header_of(copy)->bytes;
  const auto room = admitted ? heap::recycling::none : heap::recycling::allowed;
  void* const made = heap::allocate(heap::kind::hot, bytes, room);
  if (made == nullptr) return nullptr;
  base::copy_words_racy(made, copy, heap::readable_bytes(bytes));
  void* const old = pointer_of(seen);
  while (pointer_of(seen) == old && heap_of(seen) == heap::kind::cold) {
    // Accessed by this scope, as reach() has marked it: no collector moves the copy until it has
    // closed.
    word next = marked(moved_to(seen, reinterpret_cast<word>(made), heap::kind::hot));
    if (!are_counted()) next = with_history(next, admitted.value_or(history_of(seen)));
    sync::pause_at(sync::step::fetched, &slot);
    // Seq_cst, as every change of a slot whose due bit is looked at afterwards; it publishes the
    // copy.
    if (!slot.compare_exchange_seq_cst(seen, next)) continue;
    report_cold_access(&slot);  // due for a scan: it is in HOT
    sync::retire(old, &free_object, heap::room_of(old));
    if (return_policy* const policy = chosen_policy.load_acquire()) policy->note_returned(bytes);
    return made;
  }
  heap::deallocate(made, heap::recycling::none);
  return nullptr;
}

/// Uses an object that no read can give: in the mapping, if the access may wait for that.
void* without_a_read(word seen, access& inside) noexcept {
  if (inside.waits()) return touch_cold(seen, inside);
  inside.note(access::outcome::must_wait);
  return nullptr;
}

/// Notes how a read that gives no copy has ended.
void* without_a_copy(word seen, const heap::cold_read& read, access& inside) noexcept {
  if (read.error() == ETIME) {
    inside.note(access::outcome::disk_silent);
    return nullptr;
  }
  // Not read, or brought back and gone again.
  if (!read.was_copied() && !is_lost(read.error())) return without_a_read(seen, inside);
  heap::count_lost_read();
  inside.note(access::outcome::unreadable);
  return nullptr;
}

}  // namespace

void set_return_policy(return_policy* chosen) noexcept { chosen_policy.store_release(chosen); }

void* reach_past_mapping(base::atomic<word>& slot, word seen, heap::used_before before,
                         access& inside) noexcept {
  while (is_in_cold(seen)) {
    void* const object = pointer_of(seen);
    if (!heap::is_out(object)) return touch_cold(seen, inside);
    const auto read = inside.find_read(object);
    if (read == nullptr) {
      if (inside.waits()) return touch_cold(seen, inside);
      inside.record(object, before);
      return nullptr;
    }
    const void* const copy = read->copy_of(object);
    if (copy == nullptr) return without_a_copy(seen, *read, inside);
    if (inside.is_prefetch()) return const_cast<void*>(copy);
    const std::size_t bytes = heap::header_of(copy)->bytes;
    const auto history = has_left(seen) ? std::nullopt : admitted(seen, bytes, read->before());
    if (inside.may_use_copies() && !history) return const_cast<void*>(copy);
    if (has_left(seen)) return without_a_read(seen, inside);
    if (void* made = commit_fetched(slot, seen, copy, history)) {
      return made;
    }
    if (is_in_cold(seen) && pointer_of(seen) == object && !has_left(seen)) {  // HOT is full
      return inside.may_use_copies() ? const_cast<void*>(copy) : without_a_read(seen, inside);
    }
  }
  return pointer_of(seen);
}

}  // namespace isotherm::guides
