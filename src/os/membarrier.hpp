// The expensive half of an asymmetric fence: membarrier(2) makes every running thread of this
// process execute a full fence, so that the frequent side can do with a compiler barrier
// (sync/slots.hpp).
#pragma once

namespace isotherm::os {

/// Announces to the kernel that this process will use membarrier(). Idempotent, thread-safe.
/// Returns false where the kernel lacks it (or a seccomp filter refuses it): both sides must then
/// fence by themselves.
bool register_membarrier() noexcept;

/// True when register_membarrier() succeeded in this process or its fork parent.
bool has_membarrier() noexcept;

/// Every thread of the process has executed a full fence between the call and the return. Falls
/// back to a sequentially consistent fence of the calling thread when has_membarrier() is false.
/// Costs an inter-processor interrupt to each core that runs the process.
void membarrier() noexcept;

}  // namespace isotherm::os
