// Moves objects that are left in sparse extents together, and objects that are used alike. Dead
// bytes of HOT take DRAM, and go whenever there is enough of them. Dead bytes of COLD take disk or
// swap, and to make room there their neighbours are read from the disk: a window moves a bounded
// share.
#pragma once

#include <cstdint>
#include <vector>

#include "heap/upkeep.hpp"

namespace isotherm::collector {

/// The share of COLD that may be dead, a quarter: beyond it, extents are emptied.
inline constexpr std::uint64_t kBorneDeadInCold = 4;
/// Extents of COLD whose live share is lower may be emptied. One that is emptied yields a byte for
/// at most three that are read and written again.
inline constexpr double kSparseColdShare = 0.75;

/// The share of HOT that lives at least, after compaction. Objects that leave at random cost at
/// worst about thirteen copied bytes for a dead byte: the sparsest extents come first.
inline constexpr double kSparseHotShare = 0.93;

/// Bytes of live objects that the window may move within COLD, so that no more than a quarter of it
/// is dead in the end: as many as are dead beyond that, and not more than a 16th of COLD or 16 MiB,
/// for they are read and written beside what the program reads. 0 while so little is dead that
/// finding the objects, by a visit of all guides, would cost more.
std::uint64_t cold_bytes_to_move(const heap::packing& now) noexcept;

/// Dead bytes of HOT that are to go: what is beyond the share that may be dead, and when memory is
/// short, what it is short by.
std::uint64_t hot_bytes_to_gain(const heap::packing& now, std::uint64_t short_bytes) noexcept;

/// A compaction of HOT.
struct hot_compaction {
  std::uint64_t short_bytes;     ///< by which DRAM exceeds its target
  std::uint64_t together_bytes;  ///< what may be in memory twice meanwhile
  std::uintptr_t end;  ///< extents below this address: behind it are objects that may yet leave
};

/// The sparsest extents of HOT that have so much dead, in groups of which no more than
/// `together_bytes` are in memory twice.
std::vector<heap::sparse_extents> sparse_hot(const hot_compaction& asked);
/// The sparsest of COLD, as far as cold_bytes_to_move() allows.
std::vector<heap::sparse_extents> sparse_cold();

}  // namespace isotherm::collector
