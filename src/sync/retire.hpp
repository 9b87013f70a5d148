// Safe memory reclamation by the scopes' own epochs: what was unlinked is freed when every scope
// that could have seen it has closed.
#pragma once

#include <cstddef>

#include "sync/scope.hpp"

namespace isotherm::sync {

/// Hands over `object`, already unreachable for scopes that open from now on. `reclaim(object)`
/// runs later, on any thread, outside of every scope that was open at the call; it must not throw.
/// It may open scopes and retire more: that waits its turn, whatever the depth. `bytes` is memory
/// that the object holds, as far as the caller knows it: leaving a scope reclaims the sooner, and
/// retired_bytes() tells. The caller may be inside a scope.
///
/// Freeing needs no memory: where there is none for a list entry, a reserve for 43,520 blocks is
/// used. A block that finds that full too is never freed, and counted by unlisted_blocks().
void retire(void* object, void (*reclaim)(void*) noexcept, std::size_t bytes = 0) noexcept;

/// Frees all that is safe to free now, of every thread, or as much of it as takes `limit_us`
/// microseconds (and the block that was in hand then); returns how many blocks. Never waits. Must
/// not be called inside a scope for its own retirees to go.
std::size_t reclaim_ready(std::uint64_t limit_us = ~std::uint64_t{0}) noexcept;

/// Frees blocks that threads have set aside for want of time, for `limit_us` microseconds and the
/// block that was in hand then; returns how many blocks. For a thread that has nothing else to do.
/// If nothing was set aside it takes time in proportion to the threads.
std::size_t reclaim_aside(std::uint64_t limit_us) noexcept;

/// Blocks waiting to be reclaimed, of every thread, and the bytes that were told of them;
/// approximate while threads run. Take time in proportion to the threads.
std::size_t retired_blocks() noexcept;
std::uint64_t retired_bytes() noexcept;

/// Blocks that no memory was left to list, since start: they stay in memory for ever.
std::uint64_t unlisted_blocks() noexcept;

}  // namespace isotherm::sync
