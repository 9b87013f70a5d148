// Which guide slots exist (SODA, OBASE 4.3), as the guide layer sees it; the bitmap is
// soda.hpp.
#pragma once

#include "base/atomic.hpp"
#include "guide/word.hpp"

namespace isotherm::guides {

/// Makes `slot` known to the collector and due for its next scan. Idempotent. Ends the program when
/// there is no memory for a block of the bitmap: a guide that is filled must be known.
void register_slot(const base::atomic<word>* slot) noexcept;

/// True when a guide at `slot` was made known and has not been forgotten.
bool is_registered(const base::atomic<word>* slot) noexcept;

/// Forgets `slot`, a guide's own. When it returns, no collector reads or writes the slot any more;
/// waits at most for the copy of a piece of its object (pitfall 5), and may mark it as accessed.
void unregister_slot(const base::atomic<word>* slot) noexcept;

/// Puts `slot`, whose COLD object was dereferenced, back among those due for a scan.
void report_cold_access(const base::atomic<word>* slot) noexcept;

}  // namespace isotherm::guides
