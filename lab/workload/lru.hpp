// Misses of LRU caches of every size at once, from one pass over the requests.
//
// An LRU cache of n records holds the n used last. A request hits in it exactly when fewer than n
// other records were used since the last use of its own: its stack distance (Mattson, Gecsei,
// Slutz, Traiger, IBM Systems Journal 9(2), 1970). Distances are counted in a Fenwick tree over the
// order of last uses, O(log n) a request. A sample of the records is enough, 1 in so many by a hash
// of their numbers: distances in it are as much shorter (SHARDS: Waldspurger, Park, Garthwaite,
// Ahmad, FAST 2015). Misses are scaled up and divided by all requests, so that it matters little
// whether the most popular records, which hit in any case, are in the sample (the paper's
// SHARDS-adj).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace isotherm::workload {

/// Order of last uses. Not thread-safe.
class use_order {
 public:
  /// Uses a record: how many others were used since its last use; nullopt for its first.
  std::optional<std::uint64_t> use(std::uint64_t record);

 private:
  /// Live slots at `slot` or before.
  std::uint64_t count_to(std::size_t slot) const noexcept;
  void change(std::size_t slot, std::uint32_t by) noexcept;
  /// Moves the live slots together, in their order.
  void make_room();

  std::unordered_map<std::uint64_t, std::uint32_t> slot_of_;  ///< of each record's last use
  std::vector<std::uint32_t> tree_;  ///< Fenwick's, from 1: live slots, by slot
  std::uint32_t next_slot_ = 0;
};

/// How many requests miss in an LRU cache, by the number of records that it has room for.
class miss_curve {
 public:
  /// Makes the curve of a sample of 1 in `one_in` records, counted, not as the hash means it: a
  /// sample one in a hundred too small would lower misses at 90% of the records by a twentieth.
  explicit miss_curve(double one_in = 1) : one_in_(one_in) {}

  void count_requests(std::uint64_t more) noexcept { requests_ += more; }
  /// A request's distance in the sample.
  void count(std::uint64_t distance);
  void add(const miss_curve& other);

  std::uint64_t requests() const noexcept { return requests_; }
  /// Share of the requests that miss with room for so many records, 0..1.
  double misses(std::uint64_t room) const noexcept;

 private:
  double one_in_;
  std::uint64_t requests_ = 0;
  std::vector<std::uint64_t> by_distance_;
};

}  // namespace isotherm::workload
