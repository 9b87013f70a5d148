// The ways to place a tree's nodes that `isotherm bench tiers` compares.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "lab/emulation/slow_memory.hpp"
#include "placement/node_memory.hpp"
#include "placement/placed_tree.hpp"
#include "placement/placer.hpp"
#include "placement/sinlk.hpp"

namespace isotherm::lab {

/// Runs requests of the workload for so many seconds, or for the time of the measured run if that
/// is shorter, unmeasured.
using request_drive = std::function<base::result<void>(double seconds)>;

/// A way to place nodes. Thread: one; chooser() is for any.
class tier_placement {
 public:
  virtual ~tier_placement() = default;
  virtual placement::placer& chooser() noexcept = 0;
  /// Prepares a tree that is empty yet.
  virtual base::result<void> prepare(placement::placed_tree&) { return {}; }
  /// Places the nodes of a loaded tree, and starts to move them if the placement does so.
  virtual base::result<void> begin(placement::placed_tree& tree, const request_drive& drive) = 0;
  virtual void end() noexcept {}
  /// Does the background's work of a tenth of a second in the calling thread, where the options ask
  /// for steps. `leaves`: leaves that a turn of SINLK's trigger may visit.
  virtual void step(placement::placed_tree&, std::uint64_t /*leaves*/) {}
  /// Returns the bytes of fast memory that nodes take now.
  virtual std::uint64_t fast_bytes() const noexcept = 0;
  /// Returns the bytes of the pages of fast memory that nodes lie on.
  virtual std::uint64_t fast_page_bytes() const noexcept {
    return placement::used_page_bytes(placement::tier::fast);
  }
  /// Returns the bytes of nodes, or pages, that were moved between the tiers so far.
  virtual std::uint64_t moved_bytes() const { return 0; }
  /// Returns figures of the placement, for the report.
  virtual nlohmann::json details() const { return nlohmann::json::object(); }
};

/// Options of a placement.
struct placement_options {
  std::uint64_t fast_bytes = 0;
  placement::sinlk_options sinlk{};  ///< the fast size in it follows from fast_bytes
  bool is_stepped = false;           ///< no thread is started: step() is called
};

enum class placed_unit : std::uint8_t { page, node };

/// Describes a placement, at the end of its source.
struct placement_kind {
  std::string_view name;
  placed_unit unit;
  counting needs;  ///< uses that its searches have to count
  std::unique_ptr<tier_placement> (*make)(const placement_options& chosen);
};

/// Returns the names that make_placement() knows: all of them, or those that place such units.
std::vector<std::string_view> placement_names();
std::vector<std::string_view> placement_names(placed_unit unit);

/// Returns the uses that searches count for the placement of that name; none for another name.
counting counted_for(std::string_view name);

/// Makes the placement of that name. Errors: the name is not known; the message lists those that
/// are.
base::result<std::unique_ptr<tier_placement>> make_placement(std::string_view name,
                                                             const placement_options& chosen);

}  // namespace isotherm::lab
