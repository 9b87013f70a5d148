#include "guide/guide.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "guide/fetched.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/object_copy.hpp"
#include "heap/header.hpp"
#include "sync/epoch.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::guides {

namespace {

constinit base::atomic<word_use> words_hold{word_use::history};

/// The word `next` in the slot of `old`.
word next_in_slot(word old, word next) noexcept {
  // Counts belong to scopes that will uncount this slot, whatever it holds then.
  return are_counted() ? succeeded_by(old, next) : heir_of(old, next);
}

/// Takes back one count when the scope that took it closes.
void uncount(void* slot_address) noexcept {
  auto& slot = *static_cast<base::atomic<word>*>(slot_address);
  word seen = slot.load_relaxed();
  for (;;) {
    const word next = uncounted(seen);
    if (next == seen) return;
    // Release: what the scope read of the object happens before the collector that finds no count.
    if (slot.compare_exchange_weak_acq_rel(seen, next)) return;
  }
}

[[maybe_unused]] const bool other_layers_know = [] {
  sync::set_count_release(&uncount);
  // A mover waits for open scopes: a scope that waits for moves in turn would hold it up.
  heap::ask_before_waiting([]() noexcept { return !sync::scope::is_open(); });
  return true;
}();

/// `change(word)` applied by one read-modify-write, unless the guide is null. Returns the word
/// found.
template <class Change>
word transform(base::atomic<word>& slot, Change change) noexcept {
  word seen = slot.load_acquire();
  sync::pause_at(sync::step::marking, &slot);
  while (!is_null(seen)) {
    // Seq_cst: the caller looks at the due bit afterwards (drop_due() in soda.cpp).
    if (slot.compare_exchange_seq_cst(seen, change(seen))) break;
  }
  return seen;
}

word mark_and_count(base::atomic<word>& slot, sync::thread_slot& mine) noexcept {
  switch (sync::note_counted(mine, &slot)) {
    case sync::noted::known:
      // Counted before by this scope: the object can't move, but it can have been replaced.
      return transform(slot, marked);
    case sync::noted::no_memory:
      // A count that can't be taken back is left out: the object stays until the scan resets
      // counts.
      return transform(slot, [](word w) { return pinned(marked(w)); });
    case sync::noted::added:
      break;
  }
  const word found = transform(slot, counted);
  if (is_null(found)) sync::forget_counted(mine, &slot);
  return found;
}

}  // namespace

bool are_counted() noexcept { return words_hold.load_relaxed() == word_use::counts; }

bool is_counted(word w) noexcept { return are_counted() && count_of(w) != 0; }

void use_words_for(word_use use) noexcept { words_hold.store_relaxed(use); }

word mark(base::atomic<word>& slot, const sync::scope& inside) noexcept {
  const word found =
      inside.is_tracking() ? mark_and_count(slot, inside.slot()) : transform(slot, marked);
  if (!is_null(found) && !is_accessed(found) && heap_of(found) == heap::kind::cold) {
    report_cold_access(&slot);
  }
  return found;
}

namespace {

/// The word of an object that stays where it is until the scope closes: until it is marked, the
/// collector may move the object of a word that was just loaded, and free it.
word marked_word(base::atomic<word>& slot, word seen, const sync::scope& inside) noexcept {
  const bool is_marked = is_null(seen) || (needs_no_mark(seen) && !inside.is_tracking());
  return is_marked ? seen : mark(slot, inside);
}

}  // namespace

void* reach(base::atomic<word>& slot, word seen, access& inside, stores may_follow) noexcept {
  const word found = marked_word(slot, seen, inside.scope());
  if (!is_in_cold(found)) return pointer_of(found);
  const auto before = is_accessed(seen) ? heap::used_before::yes : heap::used_before::no;
  return reach_in_cold(slot, found, before, inside, may_follow);
}

void* reach(base::atomic<word>& slot, word seen, const sync::scope& inside,
            stores may_follow) noexcept {
  const word found = marked_word(slot, seen, inside);
  if (!is_in_cold(found)) return pointer_of(found);
  access waits;
  return reach(slot, seen, waits, may_follow);
}

void* peek_in_cold(base::atomic<word>& slot, word seen, access& inside,
                   stores may_follow) noexcept {
  if (may_use_in_place(seen, inside, may_follow)) return use_in_place(seen);
  // An object that is read must stay until then.
  const word found = marked_word(slot, seen, inside.scope());
  if (!is_in_cold(found)) return pointer_of(found);
  return reach_in_cold(slot, found, heap::used_before::no, inside, may_follow);
}

std::expected<void*, heap::miss> try_reach(base::atomic<word>& slot, const sync::scope& inside) {
  const word seen = slot.load_acquire();
  if (reads_directly(seen) && !inside.is_tracking()) return pointer_of(seen);
  access tries(access::when_cold::record);
  void* const object = reach(slot, seen, tries, stores::none);
  if (tries.result() == access::outcome::missed) {
    return std::unexpected(std::move(tries.take_misses().back()));
  }
  return tries.result() == access::outcome::must_wait ? reach(slot, seen, inside, stores::none)
                                                      : object;
}

namespace {

struct frees {
  void operator()(void* memory) const noexcept { std::free(memory); }
};

/// Null where there is no memory.
std::unique_ptr<void, frees> copy_in_memory(const void* object) noexcept {
  const std::size_t bytes = heap::object_size(object);
  std::unique_ptr<void, frees> copy(std::malloc(heap::readable_bytes(bytes)));
  if (copy != nullptr) std::memcpy(copy.get(), object, bytes);
  return copy;
}

}  // namespace

void destroy_object(void* gone, void (*destroy)(void*) noexcept) noexcept {
  if (!heap::cold_is_logged() || !heap::range_of(heap::kind::cold).contains(gone)) {
    return destroy(gone);
  }
  const sync::scope inside;  // the memory of an extent that was just written stays
  if (heap::is_out(gone)) {
    const auto copy = heap::object_copy::read(gone);
    if (copy) destroy(const_cast<void*>(copy->object()));
    return;
  }
  // A destructor may store to the object, whose extent may be on its way to the file.
  const std::unique_ptr<void, frees> copy = copy_in_memory(gone);
  if (copy != nullptr) destroy(copy.get());
}

word kept_for_maker(base::atomic<word>& slot, word made) noexcept {
  if (is_null(made) || !sync::scope::is_open() || !sync::moves_may_happen()) return made;
  sync::thread_slot& mine = *sync::this_thread_slot;
  if (!mine.tracking) return marked(made);
  switch (sync::note_counted(mine, &slot)) {
    case sync::noted::added:
      return counted(made);
    case sync::noted::known:  // the slot's word has this scope's count, and keeps it
      return marked(made);
    case sync::noted::no_memory:
      break;
  }
  return pinned(marked(made));
}

word exchange(base::atomic<word>& slot, word next) noexcept {
  next = kept_for_maker(slot, next);
  word seen = slot.load_acquire();
  while (!slot.compare_exchange_seq_cst(seen, next_in_slot(seen, next))) {
  }
  return seen;
}

bool compare_exchange(base::atomic<word>& slot, const void* expected, word next) noexcept {
  const word kept = kept_for_maker(slot, next);
  word seen = slot.load_acquire();
  while (pointer_of(seen) == expected) {
    if (slot.compare_exchange_seq_cst(seen, next_in_slot(seen, kept))) return true;
  }
  if (count_of(kept) == 1) sync::forget_counted(*sync::this_thread_slot, &slot);
  return false;
}

word carry(word w) noexcept { return are_counted() ? carried(w) : unlocked(w); }

word leave_to_relocated(base::atomic<word>& from) noexcept {
  ISO_CHECK(!are_counted(), "guides are relocated under the protocol \"veto\" only");
  const word held = from.load_acquire();
  if (held == 0) return 0;
  unregister_slot(&from);  // from here on the collector leaves it where it is
  // A reader that commits an object for a scope (fetched.hpp) has either done so before, and the
  // new slot gets its word, or finds that the object has left.
  word now = from.load_acquire();
  while (!from.compare_exchange_acq_rel(now, left(now))) {
  }
  // Locked: a batch of moves that has chosen its slots before may name the new slot's address, that
  // of a guide which is gone. Its grace period may be over, and says nothing of scopes that read
  // `from`; the next scan clears the lock (ageing::age() in collector/scan/ageing.cpp).
  return is_null(now) ? now : locked(now);
}

word vacate(base::atomic<word>& slot) noexcept {
  // A guide that was relocated is locked and in no block until finish_relocation(): the block found
  // in its place would be others', who may give it back at this moment. Relaxed: only the thread
  // that has the guide to itself writes to a slot that is in no block, and it locked this one.
  if (!is_locked(slot.load_relaxed()) || is_registered(&slot)) unregister_slot(&slot);
  const word held = slot.exchange_acq_rel(0);
  // A scope whose set names the slot has a count in its word. One that takes the count back at this
  // moment finds it, or the zero, and in either case is done with the slot before it is forgotten.
  if (is_counted(held)) sync::forget_counted(&slot);
  return held;
}

void throw_bad_alloc() { throw std::bad_alloc(); }

}  // namespace isotherm::guides
