// Objects whose page of COLD the disk does not give back (heap/readable.hpp).
//
// A structure that comes to one gets unreadable_bytes() in its place, so that its searches need no
// case of their own: it is no key that anybody uses, and as a value a record without content. A
// search that met one may have taken a wrong way. So writes ask a read_watch before they link,
// unlink or split anything, and whoever reads asks one before he believes that a key is absent.
#pragma once

#include <string_view>

#include "guide/object.hpp"

namespace isotherm::guides {

/// What stands for an object that cannot be read.
const bytes* unreadable_bytes() noexcept;

/// What a walk gets in the place of a value that has left DRAM: a record without content, of which
/// nothing is known.
const bytes* absent_bytes() noexcept;
/// Whether a value that a walk gave stands for one that has left DRAM.
bool is_absent(std::string_view text) noexcept;

/// Whether a key or a value that a structure gave stands for one that cannot be read.
bool is_unreadable(std::string_view text) noexcept;

/// Whether this thread has met one that it does not wait for: what it does is to be done again
/// (heap::miss_watch).
bool has_missed() noexcept;
/// Whether it has met one that cannot be read because the disk does not answer: it may be there
/// later. For a thread with a heap::read_watch, since the outermost was made.
bool is_unanswered() noexcept;

}  // namespace isotherm::guides
