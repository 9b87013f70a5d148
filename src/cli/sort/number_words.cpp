#include "cli/sort/number_words.hpp"

#include <fmt/format.h>

#include "base/numbers.hpp"

namespace isotherm::cli {

base::result<record_number> parse_number(std::string_view word) {
  record_number n;
  const std::unexpected refusal(
      base::error{fmt::format("-k '{}': the key of a record is u8, u16, u32, u64, i8 to i64, f32 "
                              "or f64, and ,le or ,be",
                              word),
                  0});
  if (word.ends_with(",be")) {
    n.big_endian = true;
  } else if (!word.ends_with(",le")) {
    return refusal;
  }
  word.remove_suffix(3);
  const char kind = word.empty() ? '\0' : word.front();
  word.remove_prefix(word.empty() ? 0 : 1);
  const auto bits = base::parse_number<unsigned>(word);
  if (!bits || (kind != 'u' && kind != 'i' && kind != 'f')) return refusal;
  if (*bits != 64 && *bits != 32 && (kind == 'f' || (*bits != 16 && *bits != 8))) return refusal;
  n.kind = kind == 'u'   ? number_kind::natural
           : kind == 'i' ? number_kind::integer
                         : number_kind::real;
  n.bytes = *bits / 8;
  return n;
}

}  // namespace isotherm::cli
