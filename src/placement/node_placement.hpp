// A placement: it chooses the tier of each node of one tree and moves nodes between fast and slow
// memory while the tree is used. The server and the tool see this interface only.
//
// Each placement is a source of this folder that ends with its descriptor. registry.cpp lists them
// all; the choices of `isotherm serve --node-placement` are made from the list.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "placement/placed_tree.hpp"
#include "placement/placer.hpp"

namespace isotherm::placement {

/// Limit of the bytes that nodes take of fast memory; 0: all nodes are slow.
struct fast_size {
  std::uint64_t bytes = 0;
  /// Limit in place of `bytes`, as a share of the bytes that all nodes take at the time, 0..1.
  std::optional<double> share = std::nullopt;
};

struct statistic {
  std::string_view name;
  std::variant<std::uint64_t, double> value;
};

/// Places the nodes of one tree. Thread: any, in choose(), resize(), size() and report(); else the
/// one that controls the placement.
class node_placement : public placer {
 public:
  /// Starts to move nodes of the tree, which must live until stop(). Fails where the system gives
  /// no thread.
  virtual base::result<void> start(placed_tree& tree) = 0;
  /// Stops moving nodes, which stay where they are. Idempotent.
  virtual void stop() noexcept = 0;

  /// Makes fast memory larger or smaller; nodes beyond it are demoted. A share must be in range.
  virtual void resize(const fast_size& size) noexcept = 0;
  virtual fast_size size() const noexcept = 0;
  /// Returns the statistics in the order in which ISOTHERM NODES shows them.
  virtual std::vector<statistic> report() const = 0;
};

struct placement_kind {
  std::string_view name;  ///< for --node-placement
  std::string_view help;
  std::unique_ptr<node_placement> (*make)(const fast_size& fast);
};

}  // namespace isotherm::placement
