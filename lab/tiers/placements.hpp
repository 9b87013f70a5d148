// The ways to place a tree's nodes that `isotherm bench tiers` compares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "placement/placed_tree.hpp"
#include "placement/placer.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::lab {

/// Runs requests of the workload for so many seconds, or for the time of the measured run if that
/// is shorter, unmeasured.
using request_drive = std::function<base::result<void>(double seconds)>;

/// One of them. For one thread, but for chooser().
class tier_placement {
 public:
  virtual ~tier_placement() = default;
  virtual placement::placer& chooser() noexcept = 0;
  /// The tree is empty yet.
  virtual base::result<void> prepare(placement::placed_tree&) { return {}; }
  /// The tree is loaded. Places what is placed once, and starts what goes on meanwhile.
  virtual base::result<void> begin(placement::placed_tree& tree, const request_drive& drive) = 0;
  virtual void end() noexcept {}
  /// What nodes take of fast memory now.
  virtual std::uint64_t fast_bytes() const noexcept = 0;
  /// What is to be known of it, for the report.
  virtual nlohmann::json details() const { return nlohmann::json::object(); }
};

/// What a placement is made from.
struct placement_options {
  std::uint64_t fast_bytes = 0;
  placement::sinlk_options sinlk{};  ///< its fast size follows from fast_bytes
};

enum class placed_unit : std::uint8_t { page, node };

/// The descriptor that each placement has in its source.
struct placement_kind {
  std::string_view name;
  placed_unit unit;
  std::unique_ptr<tier_placement> (*make)(const placement_options& chosen);
};

/// Names that make_placement() knows: all of them, or those that place such units.
std::vector<std::string_view> placement_names();
std::vector<std::string_view> placement_names(placed_unit unit);

/// An unknown name is an error that lists the known ones.
base::result<std::unique_ptr<tier_placement>> make_placement(std::string_view name,
                                                             const placement_options& chosen);

}  // namespace isotherm::lab
