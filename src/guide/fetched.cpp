#include "guide/fetched.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <utility>

#include "base/words.hpp"
#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/cold/object_copy.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/header.hpp"
#include "sync/retire.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::guides {
namespace {

// Release by who sets it, acquire by who asks: the policy is complete.
constinit base::atomic<return_policy*> chosen_policy{nullptr};

/// Whether a read that ended so says that the disk does not give the pages. Other errors are of the
/// way that was taken (no memory, an old system): another way may still give them.
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

/// The bytes of an object that may not be used as it lies.
struct found_bytes {
  const void* bytes = nullptr;                          ///< null: the use ends without them
  std::shared_ptr<const heap::cold_read> read = {};     ///< keeps them, where they come from one
  std::optional<heap::object_copy> own = std::nullopt;  ///< the copy, where it is one
};

/// Notes how a read that gives no copy has ended. Returns whether the bytes may be had otherwise.
bool may_try_otherwise(const heap::cold_read& read, access& inside) noexcept {
  if (read.error() == ETIME) {
    inside.note(access::outcome::disk_silent);
    return false;
  }
  if (!read.was_copied() && !is_lost(read.error())) return true;
  heap::count_lost_read();
  inside.note(access::outcome::unreadable);
  return false;
}

/// Reads an object of a logged COLD at once.
found_bytes read_now(const void* object, access& inside) noexcept {
  auto copy = heap::object_copy::read(object);
  if (!copy) {
    if (is_lost(copy.error())) heap::count_lost_read();
    inside.note(access::outcome::unreadable);
    return {};
  }
  const void* const bytes = copy->object();
  return {.bytes = bytes, .own = std::move(*copy)};
}

/// Finds the bytes of an object that is out. An access that does not wait records it.
found_bytes find_bytes(void* object, heap::used_before before, access& inside,
                       bool waits) noexcept {
  const auto read = inside.find_read(object);
  if (read != nullptr) {
    if (const void* const copy = read->copy_of(object)) return {.bytes = copy, .read = read};
    if (!may_try_otherwise(*read, inside)) return {};
  }
  if (!waits) {
    read == nullptr ? inside.record(object, before) : inside.note(access::outcome::must_wait);
    return {};
  }
  // A mapped COLD brings the page back.
  return heap::cold_is_logged() ? read_now(object, inside) : found_bytes{.bytes = object};
}

/// Ends a use that needs another way than it has.
void* without(access::outcome why, access& inside) noexcept {
  inside.note(why);
  return nullptr;
}

void free_copy(void* memory) noexcept { std::free(memory); }

/// Keeps a copy for as long as the scope is open; one of an arrived read lives as long as that.
void* keep(found_bytes& found) noexcept {
  if (found.own) {
    const std::size_t bytes = found.own->memory_bytes();  // whole pages wait, not the object alone
    sync::retire(found.own->release(), &free_copy, bytes);
  }
  return const_cast<void*>(found.bytes);
}

/// Uses an object whose slot is an old one. Its copy cannot take its place, and one of an arrived
/// read need not live as long as the scope. An object that may be stored to came to HOT before it
/// left, unless it could not be read then (guide's constructor for relocation).
void* use_where_it_left(word seen, found_bytes& found, access& inside, bool waits,
                        stores may_follow) noexcept {
  void* const object = pointer_of(seen);
  const bool lives = found.own || found.bytes == object;
  if (!waits && !lives) return without(access::outcome::must_wait, inside);
  if (!heap::cold_is_logged()) return use_in_place(seen);
  if (may_follow == stores::allowed) return without(access::outcome::unreadable, inside);
  if (!lives) found = read_now(object, inside);
  if (found.bytes == nullptr) return nullptr;
  return keep(found);
}

/// Uses an object for whose copy HOT has no room.
void* use_without_room(word seen, access& inside, bool waits) noexcept {
  if (!waits) return without(access::outcome::must_wait, inside);
  if (!heap::cold_is_logged()) return use_in_place(seen);
  return without(access::outcome::unreadable, inside);
}

}  // namespace

void set_return_policy(return_policy* chosen) noexcept { chosen_policy.store_release(chosen); }

bool may_use_in_place(word seen, const access& inside, stores may_follow) noexcept {
  const bool is_out = heap::is_out(pointer_of(seen));
  if (heap::cold_is_logged()) return !is_out && may_follow == stores::none;
  return !is_out || may_follow == stores::allowed || !inside.may_read_past_mapping();
}

void* use_in_place(word seen) noexcept {
  heap::note_cold_use(pointer_of(seen));
  return pointer_of(seen);
}

void* reach_in_cold(base::atomic<word>& slot, word seen, heap::used_before before, access& inside,
                    stores may_follow) noexcept {
  const bool waits = inside.waits() || may_follow == stores::allowed;
  const bool may_copy = inside.may_use_copies() && may_follow == stores::none;
  while (is_in_cold(seen)) {
    void* const object = pointer_of(seen);
    if (may_use_in_place(seen, inside, may_follow)) return use_in_place(seen);
    found_bytes found{.bytes = object};
    if (heap::is_out(object)) found = find_bytes(object, before, inside, waits);
    if (found.bytes == nullptr) return nullptr;
    if (found.bytes == object && !heap::cold_is_logged()) return use_in_place(seen);
    const std::size_t bytes = heap::header_of(found.bytes)->bytes;
    if (inside.is_prefetch() && may_copy) return keep(found);
    const auto history = has_left(seen)
                             ? std::nullopt
                             : admitted(seen, bytes, found.read ? found.read->before() : before);
    if (may_copy && !history) return keep(found);
    if (has_left(seen)) return use_where_it_left(seen, found, inside, waits, may_follow);
    if (void* made = commit_fetched(slot, seen, found.bytes, history)) return made;
    if (!is_in_cold(seen) || pointer_of(seen) != object || has_left(seen)) continue;
    if (may_copy) return keep(found);  // HOT is full
    return use_without_room(seen, inside, waits);
  }
  return pointer_of(seen);
}

}  // namespace isotherm::guides
