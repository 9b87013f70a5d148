// Tells which operations an io_uring has: kernels got them one by one.
#pragma once

#include <liburing.h>

#include <initializer_list>

namespace isotherm::os {

/// Whether the ring has all of these operations. False also on Linux before 5.6, whose rings do not
/// tell, and have neither reads nor writes without vectors.
bool ring_has(io_uring& ring, std::initializer_list<io_uring_op> operations) noexcept;

}  // namespace isotherm::os
