// Numbers in texts as bytes that order as the numbers do. All functions append what they make of
// the front of `text` to `key`; what follows the number does not count. No code of a number is the
// beginning of another's.
#pragma once

#include "sort/keys/fields.hpp"

#include <vector>

namespace isotherm::sort {

using made_key = std::vector<std::byte>;

/// A decimal number of any length and precision, behind blanks.
void append_numeric(bytes_view text, made_key& key);
/// A decimal number with a unit (k, K, M, G, T, P, E, Z, Y), behind blanks. The sign comes first,
/// then the unit, then the number.
void append_human(bytes_view text, made_key& key);
/// A floating-point number as strtold() reads it: text that is none goes first, then NaN, by its
/// bytes in memory, then numbers.
void append_general(bytes_view text, made_key& key);
/// A month by the first three letters of its English name, behind blanks; 0 for any other text.
void append_month(bytes_view text, made_key& key);
/// A digit string's value: the number of its digits, and these.
void append_natural(bytes_view digits, made_key& key);

}  // namespace isotherm::sort
