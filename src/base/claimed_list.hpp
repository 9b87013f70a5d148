// A list of elements of which each thread claims one and gives it back for a later thread.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "base/atomic.hpp"

namespace isotherm::base {

/// A list of `T`s, which have a member `base::atomic<bool> claimed`. Grows by chunks of `PerChunk`
/// elements, which are never freed: threads use theirs while static destructors run. Initialised at
/// compile time. All members are thread-safe.
template <class T, std::size_t PerChunk>
class claimed_list {
 public:
  constexpr claimed_list() noexcept = default;
  claimed_list(const claimed_list&) = delete;
  claimed_list& operator=(const claimed_list&) = delete;

  /// Returns an element for the caller alone, new or as its last owner left it; null when memory is
  /// exhausted. Takes time linear in the number of elements.
  T* claim() noexcept {
    std::size_t before = 0;
    for (atomic<chunk*>* link = &first_;; before += PerChunk) {
      chunk* const at = link->load_acquire() ? link->load_acquire() : append(*link);
      if (!at) return nullptr;
      for (std::size_t i = 0; i < PerChunk; ++i) {
        bool claimed = false;
        // Acquire: pairs with the release in give_back().
        if (at->elements[i].claimed.load_relaxed() ||
            !at->elements[i].claimed.compare_exchange_acq_rel(claimed, true)) {
          continue;
        }
        raise_used(before + i + 1);
        return &at->elements[i];
      }
      link = &at->next;
    }
  }

  /// Gives `mine` back to the list. The owner must not use it afterwards.
  static void give_back(T& mine) noexcept { mine.claimed.store_release(false); }

  /// Calls `visit(T&)` for each element that was ever claimed. An element that a thread claimed
  /// before a sequentially consistent operation is visited by every call that comes after that
  /// operation.
  template <class Visit>
  void for_each(Visit visit) const {
    std::size_t left = used_.load_seq_cst();
    // Acquire: pairs with append(). A chunk is linked before `used_` covers its elements.
    for (chunk* at = first_.load_acquire(); left > 0; at = at->next.load_acquire()) {
      for (std::size_t i = 0; i < PerChunk && left > 0; ++i, --left) visit(at->elements[i]);
    }
  }

 private:
  struct chunk {
    std::array<T, PerChunk> elements{};
    atomic<chunk*> next{nullptr};
  };

  /// Returns the chunk behind `link`, appended by this thread or, meanwhile, by another; null when
  /// memory is exhausted.
  static chunk* append(atomic<chunk*>& link) noexcept {
    auto* added = new (std::nothrow) chunk;
    if (!added) return nullptr;
    chunk* found = nullptr;
    // Release publishes the chunk's elements.
    if (link.compare_exchange_acq_rel(found, added)) return added;
    delete added;
    return found;
  }

  void raise_used(std::size_t used) noexcept {
    std::size_t seen = used_.load_relaxed();
    while (seen < used && !used_.compare_exchange_seq_cst(seen, used)) {
    }
  }

  atomic<chunk*> first_{nullptr};
  atomic<std::size_t> used_{0};  // elements [0, used_) have been claimed at least once
};

}  // namespace isotherm::base
