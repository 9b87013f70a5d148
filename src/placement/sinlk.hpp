// SINLK: placement of a tree's nodes in fast and slow memory (Zhao, Dong, Wu, Chen, "Optimizing
// tree-structure indexes for CXL-based heterogeneous memory with SINLK").
//
//   on the threads of the tree      choose() for each node made; a count for each use of a leaf
//   on one thread in the background the paper's five workers:
//     migration trigger    visits leaves, in order, and queues hot slow and cold fast ones
//     executors            promote and demote what was queued (migration.hpp), batch by batch
//     cooler               halves the counts; it goes with the trigger's visit, so that a leaf is
//                          fetched once
//     watermark maintainer checks how full fast memory is (hyper_watermark.hpp)
//
// The trigger does not visit all leaves at each of its turns, but goes on where its last turn
// ended, for a share of the processor's time.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "placement/access_histogram.hpp"
#include "placement/hyper_watermark.hpp"
#include "placement/migration.hpp"
#include "placement/node_placement.hpp"
#include "placement/placed_tree.hpp"

namespace isotherm::placement {

/// A part of the policy that is left out, for an analysis of what it gives (SINLK, 6.5).
enum class sinlk_variant : std::uint8_t {
  whole,
  fixed_thresholds,    ///< no histogram: a leaf is hot from 8 uses on, and cold below 4
  passive_demotion,    ///< nodes are demoted only while fast memory is above the high mark
  separate_allocation  ///< watermarks move nodes, and do not say where new ones begin
};

struct sinlk_options {
  fast_size fast{};
  hyper_watermark::limits watermarks{};
  std::uint32_t trigger_ms = 500, cooling_ms = 2000, watermark_ms = 100;  ///< 1 .. 3,600,000
  /// Share of one processor's time for the trigger's visits while fast memory is not strained;
  /// above 0, at most 1.
  double trigger_share = 0.05;
  sinlk_variant variant = sinlk_variant::whole;
};
/// An error that says which option is out of range.
base::result<void> check(const sinlk_options& chosen);

/// Processor time of the workers since start, in seconds.
struct worker_seconds {
  double trigger = 0;  ///< the cooler's share in it
  double promotion = 0, demotion = 0, watermark = 0;
};

/// Whether a visit of the leaves halves their counts.
enum class use_counts : std::uint8_t { kept, halved };

struct sinlk_statistics {
  std::uint64_t fast_bytes_limit = 0;
  std::uint64_t fast_bytes = 0, slow_bytes = 0;  ///< what nodes take
  std::uint64_t leaves = 0;                      ///< at the last whole visit of the tree
  std::uint64_t visits = 0;                      ///< whole ones
  std::uint64_t strains = 0;                     ///< times that fast memory was above the high mark
  thresholds limits;
  parameters now;
  migration_counts moved;
  worker_seconds used;
};

/// Any thread may call statistics() too.
class sinlk final : public node_placement {
 public:
  /// The options must be in range.
  explicit sinlk(const sinlk_options& chosen);
  ~sinlk() override;
  sinlk(const sinlk&) = delete;
  sinlk& operator=(const sinlk&) = delete;

  tier choose(std::size_t bytes, const node_place& place) noexcept override;

  base::result<void> start(placed_tree& tree) override;
  void stop() noexcept override;
  void resize(const fast_size& size) noexcept override;
  fast_size size() const noexcept override;
  std::vector<statistic> report() const override;
  sinlk_statistics statistics() const;

  /// Instead of start(): visits all leaves of `tree` once in the calling thread, and moves what is
  /// to be moved. For tests, and for who paces it otherwise.
  void visit_once(placed_tree& tree, use_counts counts);

  /// Instead of start(): does in the calling thread the background's work that is due at `now_ns`
  /// of any clock. Checks the watermarks, and takes the trigger's turn, if it is due, over `leaves`
  /// leaves and the rest of their batch. For simulations, which have no clock.
  void look(placed_tree& tree, std::uint64_t now_ns, std::uint64_t leaves);

 private:
  class workers;
  std::uint64_t room() const noexcept;
  const sinlk_options chosen_;
  // While resize() changes them, room() may see the new one of the one and the old one of the
  // other: a size that neither of the two callers asked for, until the next look.
  base::atomic<std::uint64_t> fast_bytes_;
  base::atomic<double> fast_share_;  // negative: fast_bytes_ says the size
  base::atomic<unsigned> fast_levels_;
  std::unique_ptr<workers> workers_;
};

}  // namespace isotherm::placement
