// Policies that say which pages of 4 KiB are fast, for nodes that lie where the arena puts them.
//
// Uses are seen by a sample of one touch of a node in 16, for all of them, at no cost to the
// requests but the sampling; a kernel pays faults (TPP) or interrupts (MEMTIS) for that, so that
// these policies are flattered. Moving a page costs the copying of 4 KiB on a thread in the
// background.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/atomic.hpp"
#include "lab/emulation/slow_memory.hpp"
#include "placement/node_memory.hpp"

namespace isotherm::lab {

/// The pages of the fast range that nodes were put on, each in a tier. For one thread, but for
/// fast_pages() and moved().
class page_tiers {
 public:
  static constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kTierPageShift;

  /// `all` outlives it; `room`: so many pages fit into fast memory.
  page_tiers(emulated_page* all, std::uint64_t room) noexcept : room_(room), all_(all) {}

  std::span<emulated_page> pages() noexcept { return {all_, known_}; }
  std::uint64_t room() const noexcept { return room_; }
  std::uint64_t fast_pages() const noexcept { return fast_.load_relaxed(); }
  /// Pages that still fit into fast memory; 0 where more pages are fast than fit.
  std::uint64_t free_pages() const noexcept {
    const std::uint64_t used = fast_pages();
    return used < room_ ? room_ - used : 0;
  }
  std::uint64_t moved() const noexcept { return moved_.load_relaxed(); }

  /// The next page, which is put where the policy says.
  void add(placement::tier where) noexcept;
  /// Does nothing if the page is in that tier already.
  void move(std::uint64_t page, placement::tier to);

 private:
  const std::uint64_t room_;
  emulated_page* const all_;
  std::uint64_t known_ = 0;
  base::atomic<std::uint64_t> fast_{0}, moved_{0};
  std::vector<char> copy_ = std::vector<char>(kPageBytes), copied_ = copy_;
};

class page_policy {
 public:
  virtual ~page_policy() = default;
  /// The tier of a page that nodes were just put on, the next of `pages`.
  virtual placement::tier first_tier(const page_tiers& pages, std::uint64_t page) noexcept = 0;
  /// Ten times a second.
  virtual void tick(page_tiers&) {}
};

/// Weighted interleaving (Linux' weighted interleave policy): of each run of pages the share that
/// fits is fast, and nothing moves. `expected`: pages that the tree is going to have.
std::unique_ptr<page_policy> make_interleave_policy(std::uint64_t expected);

/// In the manner of TPP (Maruf et al., ASPLOS 2023): pages begin in fast memory while there is
/// room; some room (a fiftieth) is kept free by demoting pages that were used in none of the last
/// two looks; a slow page that was used in two looks in a row is promoted. A look at all pages
/// takes ten ticks. Left out: that uses of slow pages are found by faults of the threads that use
/// them, and promoted by these threads.
std::unique_ptr<page_policy> make_tpp_policy();

/// In the manner of MEMTIS (Lee et al., SOSP 2023): begins as interleaving; a histogram of pages by
/// their uses says each 5 ticks from how many on a page belongs to the hot ones that fit; those are
/// promoted, pages below it demoted; the counts are halved each 20 ticks. Left out: huge pages and
/// their splitting.
std::unique_ptr<page_policy> make_memtis_policy(std::uint64_t expected);

/// In the manner of Caption (Sun et al., MICRO 2023): begins as interleaving; the share of slow
/// pages takes a step each 10 ticks, in the same direction as long as more nodes are touched than
/// in the ten before, else back and by half as much. At least as many are slow as the size of fast
/// memory demands. Left out: the estimate of the throughput from processor counters (touches are
/// counted here), and that only new pages follow the share (pages taken at random are moved here).
std::unique_ptr<page_policy> make_caption_policy(std::uint64_t expected);

}  // namespace isotherm::lab
