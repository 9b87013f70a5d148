// COLD objects whose page the disk does not give back (options::catch_read_errors).
//
// A mapping cannot say that a read failed: the access ends in SIGBUS. So a thread that is about to
// use a COLD object touches its pages first, in a guarded piece (os/memory/bus_error.hpp);
// afterwards they are in memory. Nothing is put in the place of such a page: each later look tries
// the disk again, so where a read fails no reader ever sees anything but the object or the failure.
// Where the option is off nothing is touched, and the failure ends the process.
//
// After a write that failed nothing is dropped before it has been written anew (packed/pager.hpp).
// But the system itself, short of memory, may drop such a page as if it had been written, and later
// give what the disk held there before. It looks like an object that was there then, or, by its
// header, like none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace isotherm::heap {

/// Whether the object can be read as a whole. Reads a byte of each of its pages, if it lies in
/// COLD; true for all others. A failure counts in lost_reads(). Any thread, inside a scope.
bool is_readable(const void* object) noexcept;

/// As is_readable(), but a failure is not counted: for destructors.
bool is_readable_to_free(const void* object) noexcept;

/// Size of an object in COLD whose page may be unreadable; nullopt when it is, which counts in
/// lost_reads(). For object_size().
std::optional<std::size_t> size_in_cold(const void* object) noexcept;

/// Counts an object that was read past the mapping, and could not be, in lost_reads().
void count_lost_read() noexcept;

/// Failures since the start.
std::uint64_t lost_reads() noexcept;

}  // namespace isotherm::heap
