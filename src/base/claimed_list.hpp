// What each thread has one of: claimed by a thread, given back, and claimed by a later one.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "base/atomic.hpp"

namespace isotherm::base {

/// Elements of type T, which has a member `base::atomic<bool> claimed`. Grows by chunks of
/// `PerChunk` and never frees one: threads use theirs while static destructors run. Constant
/// initialisation. All members are thread-safe.
template <class T, std::size_t PerChunk>
class claimed_list {
 public:
  constexpr claimed_list() noexcept = default;
  claimed_list(const claimed_list&) = delete;
  claimed_list& operator=(const claimed_list&) = delete;

  /// An element for the caller alone, new or as its last owner left it; null when memory is
  /// exhausted. Takes time in proportion to the elements.
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

  /// The owner's last use of `mine`.
  static void give_back(T& mine) noexcept { mine.claimed.store_release(false); }

  /// Calls `visit(T&)` for each element that was ever claimed. What its caller claimed before some
  /// other sequentially consistent operation is seen by those that look after it.
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

  /// The chunk behind `link`, made by this thread or by another that was faster.
  static chunk* append(atomic<chunk*>& link) noexcept {
    auto* fresh = new (std::nothrow) chunk;
    if (!fresh) return nullptr;
    chunk* found = nullptr;
    // Release publishes the chunk's elements.
    if (link.compare_exchange_acq_rel(found, fresh)) return fresh;
    delete fresh;
    return found;
  }

  void raise_used(std::size_t used) noexcept {
    std::size_t seen = used_.load_relaxed();
    while (seen < used && !used_.compare_exchange_seq_cst(seen, used)) {
    }
  }

  atomic<chunk*> first_{nullptr};
  atomic<std::size_t> used_{0};  // elements [0, used_) were claimed at some time
};

}  // namespace isotherm::base
