// The reads of COLD's file that a thread waits for, rather than a queue of reads.
#pragma once

#include <cstdint>

namespace isotherm::server {

/// Returns how many such reads have begun, on any thread.
std::uint64_t waited_reads() noexcept;
/// Returns how many this thread has begun.
std::uint64_t waited_reads_here() noexcept;

}  // namespace isotherm::server
