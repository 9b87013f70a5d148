// Safe memory reclamation by the scopes' own epochs: what was unlinked is freed when every scope
// that could have seen it has closed.
#pragma once

#include <cstddef>

#include "sync/scope.hpp"

namespace isotherm::sync {

/// Hands over `object`, already unreachable for scopes that open from now on. `reclaim(object)`
/// runs later, on any thread, outside of every scope that was open at the call; it must not throw.
/// It may open scopes and retire more. The caller may be inside a scope. Ends the program when
/// there is no memory for a list entry: the object could be neither kept nor freed.
void retire(void* object, void (*reclaim)(void*) noexcept) noexcept;

/// Frees all that is safe to free now, of every thread; returns how many blocks. Never waits. Must
/// not be called inside a scope for its own retirees to go.
std::size_t reclaim_ready();

/// Waits until every scope that is open now has closed, at most `timeout_us` microseconds. False on
/// time-out. Must not be called inside a scope. The state of the migration protocol does not
/// change.
bool wait_for_open_scopes(std::uint64_t timeout_us) noexcept;

/// Blocks waiting to be reclaimed, of every thread; approximate while threads run.
std::size_t retired_blocks() noexcept;

}  // namespace isotherm::sync
