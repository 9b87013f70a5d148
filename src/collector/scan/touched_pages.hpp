// Which 4 KiB pages of the heaps hold an object that was accessed in this window.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "collector/page_uses.hpp"
#include "heap/kind.hpp"

namespace isotherm::collector {

/// How an object was used: where it lies, or by a read of COLD whose pages stay out of DRAM
/// (heap/cold). It is told by where the pages are when the window ends: what was used in its place
/// and left DRAM since counts as read past.
enum class usage_path : std::uint8_t { in_place, read_past };

/// A bitmap a heap. For one thread.
class touched_pages {
 public:
  void clear() noexcept;
  /// Until clear(), how much of each page was used is noted there too; null: it is not.
  void note_in(std::shared_ptr<page_uses> uses) noexcept { uses_ = std::move(uses); }
  page_uses* uses() const noexcept { return uses_.get(); }
  /// Takes the uses that were noted since note_in().
  std::shared_ptr<page_uses> take_uses() noexcept { return std::move(uses_); }
  /// Marks the pages of an object in heap `where`; those for which no memory is left go uncounted.
  void add(heap::kind where, const void* object, std::size_t bytes,
           usage_path path = usage_path::in_place) noexcept;
  std::uint64_t count(heap::kind where) const noexcept { return counts_[where]; }
  /// Counts the pages of all heaps.
  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const heap::kind where : heap::kKinds) sum += counts_[where];
    return sum;
  }

  /// Counts those of them that stayed out of DRAM: marked first for an object read past them.
  std::uint64_t count_read_past() const noexcept { return read_past_; }

 private:
  heap::per_kind<std::vector<std::uint64_t>> bits_;
  heap::per_kind<std::uint64_t> counts_;
  std::uint64_t read_past_ = 0;
  std::shared_ptr<page_uses> uses_;
};

}  // namespace isotherm::collector
