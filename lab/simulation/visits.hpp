// Counts of what the requests of a simulation visit: which kind of object, in which tier, and
// whether its lines are in modelled caches.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lab/simulation/cache_model.hpp"
#include "placement/tier.hpp"

namespace isotherm::lab {

/// The kinds of objects that a search visits. An entry leads from a leaf of `btree-occ` or
/// `masstree` to a key and its value, and moves with its leaf; the leaf of `art` is such an entry
/// itself. A record is a key and its value, which are fetched at once and lie in neither tier.
enum class visited : std::uint8_t { inner, leaf, entry, record };
inline constexpr std::size_t kVisitedKinds = 4;
const char* name_of(visited kind) noexcept;

/// Sizes of the modelled caches, in MiB; 0: every visit misses.
inline constexpr std::array<std::uint64_t, 4> kCacheMib = {0, 2, 8, 32};
inline constexpr std::size_t kCaches = kCacheMib.size();

/// Counts of one kind of object, or of a sum of kinds, by tier: [0] fast, [1] slow.
struct visit_tally {
  std::array<std::uint64_t, 2> visits{};
  std::array<std::array<std::uint64_t, 2>, kCaches> misses{};

  void add(const visit_tally& other) noexcept;
  /// Replaces the tiers by those that are to be expected where a share of all pages is fast,
  /// whichever they are: of a tree's upper nodes it is luck which one lies on a fast page.
  void spread(double fast_share) noexcept;
};

/// Requests by the misses of each in fast and in slow memory, behind one cache.
class request_misses {
 public:
  /// More than this many of a request count as so many.
  static constexpr std::size_t kMost = 255;

  void add(std::size_t fast, std::size_t slow) noexcept {
    ++counts_[std::min(fast, kMost)][std::min(slow, kMost)];
  }
  /// Returns the modelled nanoseconds that a share of the requests takes at most, without hits.
  double quantile(double share, double fast_ns, double slow_ns) const;

 private:
  using row = std::array<std::uint64_t, kMost + 1>;
  std::vector<row> counts_ = std::vector<row>(kMost + 1);
};

/// Counts of one node, for the choice of the best placement.
struct node_tally {
  std::uint32_t visits = 0;
  std::array<std::uint32_t, kCaches> misses{};
};

/// Counts visits. Owned by one thread. The tiers are those of the emulation: of a node's address,
/// or of its page where a policy places pages, which sees the visits.
class visit_counter {
 public:
  visit_counter();

  /// Begins a request; `number` decides which lines of a node are read beside its first.
  void begin_request(std::uint64_t number) noexcept {
    request_ = number;
    of_request_ = {};
  }
  void end_request() noexcept;
  /// Visits `lines` lines of a node. They are fetched together: the visit misses if one of them
  /// does.
  void visit(visited kind, const void* node, unsigned lines) noexcept;
  /// Visits the key and the value of record `number`, which take `bytes` bytes.
  void visit_record(std::uint64_t number, std::uint64_t bytes) noexcept;

  /// Counts visits from now on, through the caches. Before, only the policies of pages see them.
  void begin_counting() noexcept { is_counting_ = true; }
  /// Forgets the counts; the caches stay as they are.
  void forget();
  /// Counts each slow node apart as well, from now on.
  void count_nodes();
  /// Returns the counts of a slow node since count_nodes(). Entries count for their leaf.
  node_tally of_node(const void* node) const noexcept;

  /// Returns the requests behind cache `cache` of kCacheMib.
  const request_misses& requests(std::size_t cache) const noexcept { return requests_[cache]; }
  const visit_tally& of_kind(visited kind) const noexcept {
    return tallies_[static_cast<std::size_t>(kind)];
  }

 private:
  using misses = std::array<bool, kCaches>;
  void fetch(std::uint64_t line, misses& missed) noexcept;
  void count(visited kind, placement::tier where, const misses& missed) noexcept;
  node_tally* tally_of(const void* node) noexcept;

  std::vector<cache_model> caches_;
  std::array<visit_tally, kVisitedKinds> tallies_{};
  std::vector<node_tally> nodes_;  // by the address in slow memory
  node_tally* leaf_ = nullptr;     // of the last leaf visited
  std::uint64_t request_ = 0;
  std::array<std::array<std::size_t, 2>, kCaches> of_request_{};  // misses
  std::array<request_misses, kCaches> requests_;
  bool is_counting_ = false, counts_nodes_ = false;
};

/// The counter of the calling thread's searches in simulated trees; null: none count.
extern constinit thread_local visit_counter* counted_visits;

}  // namespace isotherm::lab
