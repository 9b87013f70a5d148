// Blocks that one thread has retired and no thread has freed yet, oldest first.
//
//   aside_     seen by no scope any more: the rest of closing_ when its thread had freed enough
//   closing_   sealed together, with the epoch that was current when the last of it was in
//   open_      retired since; sealed as a whole once closing_ is empty
//
// A thread frees the blocks of closing_, and now and then a few of aside_. Blocks that waited for a
// scope that stayed open are thus freed in the background, and the room of those retired last,
// which is in the processor's cache, is used again at once.
//
// One epoch for the front is enough, because what is behind it can go no earlier. The cost of a
// look at the list thus does not grow with the blocks that wait in it.
//
// Blocks lie in segments of a page, which move from hand to hand as a whole. The list keeps one
// that was emptied for its next need; where memory is exhausted there is a reserve of them, so that
// freeing does not need memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/atomic.hpp"
#include "base/spin_lock.hpp"

namespace isotherm::sync {

/// One memory block handed to retire().
struct retired_block {
  void* object;
  void (*reclaim)(void*) noexcept;
  std::size_t bytes;
};

struct retired_segment {
  static constexpr std::size_t kBlocks = 170;
  retired_segment* next = nullptr;
  std::uint32_t first = 0;  // blocks [first, end) are there
  std::uint32_t end = 0;
  std::array<retired_block, kBlocks> blocks;
};
static_assert(sizeof(retired_segment) <= 4096);

/// Thread-safe; made for one thread that pushes, and reclaimers that take now and then.
class retired_list {
 public:
  constexpr retired_list() noexcept = default;
  retired_list(const retired_list&) = delete;
  retired_list& operator=(const retired_list&) = delete;

  /// False when there was no memory for it, nor room in the reserve.
  bool push(const retired_block& block) noexcept;

  /// Takes the oldest segment of closing_, if no open scope can see what it holds; else null. It is
  /// the caller's, who gives it to set_aside() or to recycle(). Never waits for scopes; may advance
  /// the epoch.
  retired_segment* take_ready() noexcept;
  /// Takes the oldest segment that was set aside; null where there is none.
  retired_segment* take_aside() noexcept;
  /// Sets aside a segment in which blocks are left.
  void set_aside(retired_segment* segment) noexcept;
  /// Sets aside the segments of closing_ that take_ready() could still give. Constant time.
  void set_rest_aside() noexcept;
  /// Takes back a segment that was emptied.
  void recycle(retired_segment* segment) noexcept;

  /// Blocks, and their bytes, that no reclaimer has taken. Approximate while threads run.
  std::size_t blocks() const noexcept { return blocks_.load_relaxed(); }
  std::uint64_t bytes() const noexcept { return bytes_.load_relaxed(); }

  /// Around fork(), for the list of the thread that forks; a child must not wait for another
  /// thread that was sealing the list.
  void lock_for_fork() noexcept;
  void unlock_in_parent() noexcept;
  void unlock_in_child() noexcept;
  /// Around fork() by any thread, inside the locks above: all lists share the reserve.
  static void lock_reserve() noexcept;
  static void unlock_reserve() noexcept;

 private:
  /// The stage of closing_. `sealing`: a thread is about to set its epoch.
  enum class stage : std::uint8_t { sealing, waiting, ready };

  /// Lets the lock go while it changes the epoch or goes through the slots.
  bool is_front_ready(std::unique_lock<base::spin_lock>& held) noexcept;
  /// Adds, modulo 2^64, to what is told of the list. Under the lock.
  void count(std::size_t blocks, std::uint64_t bytes) noexcept;
  /// Unlinks the first segment of a list that is not empty. Under the lock.
  retired_segment* take_first(retired_segment*& list) noexcept;

  base::spin_lock lock_;  // guards all but the counters
  retired_segment* aside_ = nullptr;
  retired_segment* aside_last_ = nullptr;  // of aside_; meaningful while there is one
  retired_segment* closing_ = nullptr;
  retired_segment* closing_last_ = nullptr;  // of closing_; meaningful while there is one
  stage front_ = stage::ready;
  std::uint64_t epoch_ = 0;  // of closing_; meaningful while it waits
  retired_segment* open_ = nullptr;
  retired_segment* last_ = nullptr;  // of open_; meaningful while there is one
  retired_segment* spare_ = nullptr;
  // Changed under the lock, read without it: statistics only.
  base::atomic<std::size_t> blocks_{0};
  base::atomic<std::uint64_t> bytes_{0};
};

}  // namespace isotherm::sync
