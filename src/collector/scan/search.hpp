// Passes over the guides for the objects of some places.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "collector/page_uses.hpp"
#include "collector/policy/policy.hpp"
#include "collector/protocol/protocol.hpp"
#include "collector/scan/candidates.hpp"
#include "guide/soda.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

/// Objects that find_in_order() lists at a time.
inline constexpr std::size_t kFoundInOrder = kListBytes / sizeof(candidate);

/// How long a piece of a search for objects takes.
inline constexpr std::chrono::milliseconds kSearchPiece{5};
/// The objects that lie, in part at least, in `where`, in the order of their addresses. Looks at
/// every guide: of the order of 50 ns for each. Waits for no page. Between its pieces it lets go of
/// `alone`, the lock under which `windows` counts, for windows and for the thread that looks after
/// memory; nullopt when a window began, or the lock does not come back.
std::optional<std::vector<seen_object>> find_objects(const policy& decides,
                                                     const heap::range& where,
                                                     std::unique_lock<std::timed_mutex>& alone,
                                                     const std::uint64_t& windows);

/// Lists guides of HOT objects in `extents`, from `so_far` on, until the list is full.
void find_hot_compactions(const policy& decides, const heap::sparse_extents& extents,
                          guides::progress& so_far, std::vector<candidate>& candidates);

/// Lists guides of objects in `extents`, from `so_far` on, until the list is full, in the order of
/// the objects' addresses. For COLD it visits every guide: for when much of COLD is dead.
void find_in_order(const policy& decides, const heap::sparse_extents& extents,
                   guides::progress& so_far, std::vector<candidate>& candidates);

}  // namespace isotherm::collector
