// Versions in texts as bytes that order as `sort -V` orders the texts.
#pragma once

#include "sort/keys/numbers.hpp"

namespace isotherm::sort {

/// Appends the code of `text`: its numbers count by their values, `~` goes before all else, even
/// the end of the text, letters go before other characters, and suffixes as .tar.gz decide last.
void append_version(bytes_view text, made_key& key);

}  // namespace isotherm::sort
