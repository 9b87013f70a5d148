// Placements of nodes, one by one: by kind, by level, by what will be used, and SINLK.
#include <algorithm>
#include <string>
#include <vector>

#include "lab/tiers/placements.hpp"
#include "placement/migration.hpp"
#include "placement/node_memory.hpp"
#include "sync/retire.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;

/// Keeps the single-boundary rule, and fast memory below its size where the rule allows.
class ruled_placer : public placement::placer {
 public:
  explicit ruled_placer(std::uint64_t fast_bytes) noexcept : fast_bytes_(fast_bytes) {}
  tier choose(std::size_t bytes, const placement::node_place& place) noexcept override {
    for (const void* below : place.covers) {
      if (placement::is_fast(below)) return tier::fast;
    }
    if (placement::is_slow(place.parent) || !wants_fast(place)) return tier::slow;
    return placement::used_bytes(tier::fast) + bytes <= fast_bytes_ ? tier::fast : tier::slow;
  }

 protected:
  virtual bool wants_fast(const placement::node_place& place) const noexcept = 0;
  const std::uint64_t fast_bytes_;
};

/// A placement that chooses once.
class fixed_placement : public tier_placement, protected ruled_placer {
 public:
  using ruled_placer::ruled_placer;
  placement::placer& chooser() noexcept override { return *this; }
  base::result<void> begin(placement::placed_tree&, const request_drive&) override { return {}; }
  std::uint64_t fast_bytes() const noexcept override { return placement::used_bytes(tier::fast); }

 protected:
  /// Promotes what `part_of` returns of each path, until fast memory is full.
  template <class PartOf>
  void promote(placement::placed_tree& tree, PartOf part_of) {
    std::string cursor;
    for (bool is_more = true; is_more;) {
      const sync::scope inside;
      placement::migration_counts counts;
      placement::migration batch(tree, counts);
      unsigned leaves = 0;
      is_more = tree.visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
        const auto part = part_of(leaf.path, leaf.uses);
        if (!part.empty()) batch.queue_promotion(part);
        return ++leaves < 256;
      });
      batch.promote(inside, [this] { return fast_bytes() < fast_bytes_; });
    }
  }
};

/// Inner nodes are fast until fast memory is full, and leaves slow (SINLK, 6.1: Mass-L).
class static_placement final : public fixed_placement {
  using fixed_placement::fixed_placement;
  bool wants_fast(const placement::node_place& place) const noexcept override {
    return place.is_inner;
  }
  /// A node of a masstree may become an inner one after it was made.
  base::result<void> begin(placement::placed_tree& tree, const request_drive&) override {
    promote(tree, [](std::span<void* const> path, auto&) { return path.first(path.size() - 1); });
    return {};
  }
};

/// Puts into fast memory as many upper levels as fit (SINLK, 3.1.1: Fast-Slow; 6.5.1: + Layering).
class layered_placement final : public fixed_placement {
  using fixed_placement::fixed_placement;
  bool wants_fast(const placement::node_place& place) const noexcept override {
    return place.level < levels_;
  }
  base::result<void> begin(placement::placed_tree& tree, const request_drive&) override {
    // A level at a time, so that no node of a lower one takes the place of one of a higher.
    for (levels_ = 1; fast_bytes() < fast_bytes_; ++levels_) {
      const std::uint64_t before = fast_bytes();
      promote(tree, [this](std::span<void* const> path, auto&) {
        return path.first(std::min<std::size_t>(path.size(), levels_));
      });
      if (fast_bytes() == before && levels_ > 1) break;
    }
    return {};
  }
  unsigned levels_ = 0;
};

/// Knows which leaves will be used most (SINLK, 6.2.1: SINLK-Prophet): from as many requests of the
/// workload, before those that are measured.
class prophet_placement final : public fixed_placement {
  using fixed_placement::fixed_placement;
  bool wants_fast(const placement::node_place&) const noexcept override { return is_placed_; }

  base::result<void> begin(placement::placed_tree& tree, const request_drive& drive) override {
    constexpr double kSeconds = 5;
    if (auto driven = drive(kSeconds); !driven) return driven;
    std::vector<std::uint16_t> counts;
    visit_all(tree, [&counts](placement::use_count& uses) { counts.push_back(uses.value()); });
    std::ranges::sort(counts, std::greater());
    is_placed_ = true;
    // The most used first, a share of the leaves at a time.
    for (std::size_t at = 0; at < counts.size() && fast_bytes() < fast_bytes_;) {
      const std::size_t next =
          std::min(at + std::max<std::size_t>(counts.size() / 64, 1), counts.size());
      const std::uint16_t least = std::max<std::uint16_t>(counts[next - 1], 1);
      promote(tree, [least](std::span<void* const> path, placement::use_count& uses) {
        return uses.value() >= least ? path : path.first(0);
      });
      if (least == 1) break;
      at = next;
    }
    return {};
  }
  template <class Visit>
  static void visit_all(placement::placed_tree& tree, Visit visit) {
    std::string cursor;
    for (bool is_more = true; is_more;) {
      const sync::scope inside;
      unsigned leaves = 0;
      is_more = tree.visit_leaves(inside, cursor, [&](const placement::visited_leaf& leaf) {
        visit(leaf.uses);
        return ++leaves < 256;
      });
    }
  }
  bool is_placed_ = false;
};

class sinlk_placement final : public tier_placement {
 public:
  sinlk_placement(const placement::sinlk_options& chosen, bool is_stepped)
      : policy_(chosen), is_stepped_(is_stepped) {}
  placement::placer& chooser() noexcept override { return policy_; }
  base::result<void> prepare(placement::placed_tree& tree) override {
    return is_stepped_ ? base::result<void>() : policy_.start(tree);
  }
  void step(placement::placed_tree& tree, std::uint64_t leaves) override {
    policy_.look(tree, now_ns_ += kStepNs, leaves);
  }
  std::uint64_t moved_bytes() const override {
    const placement::migration_counts moved = policy_.statistics().moved;
    return moved.promoted_bytes + moved.demoted_bytes;
  }
  base::result<void> begin(placement::placed_tree&, const request_drive&) override { return {}; }
  void end() noexcept override { policy_.stop(); }
  std::uint64_t fast_bytes() const noexcept override { return placement::used_bytes(tier::fast); }
  nlohmann::json details() const override {
    const placement::sinlk_statistics seen = policy_.statistics();
    return {{"leaves", seen.leaves},
            {"visits", seen.visits},
            {"strains", seen.strains},
            {"hot_from", seen.limits.hot},
            {"cold_below", seen.limits.cold},
            {"hot_share", seen.now.hot_share},
            {"cold_share", seen.now.cold_share},
            {"promoted_nodes", seen.moved.promoted_nodes},
            {"promoted_bytes", seen.moved.promoted_bytes},
            {"demoted_nodes", seen.moved.demoted_nodes},
            {"demoted_bytes", seen.moved.demoted_bytes},
            {"refused", seen.moved.refused},
            {"trigger_seconds", seen.used.trigger},
            {"promotion_seconds", seen.used.promotion},
            {"demotion_seconds", seen.used.demotion},
            {"watermark_seconds", seen.used.watermark}};
  }

 private:
  static constexpr std::uint64_t kStepNs = 100'000'000;
  placement::sinlk policy_;
  const bool is_stepped_;
  std::uint64_t now_ns_ = 0;
};

template <placement::sinlk_variant kVariant>
std::unique_ptr<tier_placement> make_sinlk(const placement_options& chosen) {
  placement::sinlk_options policy = chosen.sinlk;
  policy.fast.bytes = chosen.fast_bytes;
  policy.variant = kVariant;
  return std::make_unique<sinlk_placement>(policy, chosen.is_stepped);
}

template <class Placement>
std::unique_ptr<tier_placement> make(const placement_options& chosen) {
  return std::make_unique<Placement>(chosen.fast_bytes);
}

}  // namespace

extern const placement_kind kStatic, kLayered, kSinlk, kProphet;
extern const placement_kind kFixedSinlk, kPassiveSinlk, kSeparateSinlk;
constinit const placement_kind kStatic = {"static", placed_unit::node, counting::none,
                                          make<static_placement>};
constinit const placement_kind kLayered = {"layered", placed_unit::node, counting::none,
                                           make<layered_placement>};
constinit const placement_kind kProphet = {"prophet", placed_unit::node, counting::leaves,
                                           make<prophet_placement>};
constinit const placement_kind kSinlk = {"sinlk", placed_unit::node, counting::leaves,
                                         make_sinlk<placement::sinlk_variant::whole>};
constinit const placement_kind kFixedSinlk = {
    "sinlk-fixed", placed_unit::node, counting::leaves,
    make_sinlk<placement::sinlk_variant::fixed_thresholds>};
constinit const placement_kind kPassiveSinlk = {
    "sinlk-passive", placed_unit::node, counting::leaves,
    make_sinlk<placement::sinlk_variant::passive_demotion>};
constinit const placement_kind kSeparateSinlk = {
    "sinlk-separate", placed_unit::node, counting::leaves,
    make_sinlk<placement::sinlk_variant::separate_allocation>};

}  // namespace isotherm::lab
