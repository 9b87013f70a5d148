// The order of records in a merge, by offset-value codes (Conner, IBM Technical Disclosure Bulletin
// 20(7), 1977; in a loser tree: Graefe and Do, EDBT 2023). A key is taken as a row of columns of
// five bytes. A record's code against a record that goes before it is the number of columns in
// which they agree and its own next column. The codes of two records against the same record tell
// their order if they differ, and the code of the one that goes last is then also its code against
// the other. Bytes that many keys share are thus compared once for each record, not once for each
// level of the merge, and a record whose code is kSame has the key of the one before it.
#pragma once

#include "sort/merge/run_record.hpp"

namespace isotherm::sort {

/// Smaller codes go first.
using order_code = std::uint64_t;
inline constexpr order_code kSame = 0;
inline constexpr order_code kBehindAll = ~order_code{0};  // of a run that has ended

/// For one thread.
class record_order {
 public:
  /// The context must outlive it. Long records are read from its input.
  explicit record_order(const context& ctx)
      : layout_(ctx.layout),
        reverse_(ctx.layout.entries().reverse),
        ties_by_line_(ctx.layout.ties_by_line()),
        views_{{ctx.job, ctx.input}, {ctx.job, ctx.input}} {}

  /// The code of `r` against a record that goes before all.
  order_code first(const run_record& r) { return code(text_of(r, compared::key), 0, 0); }
  /// The code of `r` against `before`, which goes before it or has the same key.
  order_code against(const run_record& before, const run_record& r) {
    return difference(before, r, 0).of_last;
  }
  struct found {
    int order;           ///< of the two records: negative, 0 (the same key) or positive
    order_code of_last;  ///< code of the one that goes last against the other
  };
  /// Compares records that have the code `shared` against the same record.
  found compare(const run_record& a, const run_record& b, order_code shared) {
    if (shared == kSame) return {0, kSame};
    return difference(a, b, kMostColumns + 1 - (shared >> kColumnBits));
  }

 private:
  static constexpr unsigned kWidth = 5;                    // bytes of a column
  static constexpr unsigned kColumnBits = 8 * kWidth + 3;  // its bytes, and how many there are
  static constexpr order_code kColumnMask = (order_code{1} << kColumnBits) - 1;
  static constexpr std::uint64_t kMostColumns = (std::uint64_t{1} << (64 - kColumnBits)) - 3;

  /// A key or line, of which at least the beginning is in memory.
  struct text {
    const std::byte* memory;
    std::uint64_t in_memory;
    std::uint64_t bytes;
    std::uint64_t offset;  // in the input, if not all bytes are in memory
    const extent* line;    // of which a key is made that is not all in memory
  };
  text text_of(const run_record& r, compared by) const noexcept;
  const std::byte* bytes_of(const text& t, std::uint64_t at, std::uint64_t n, source_view& view);
  std::uint64_t agreeing(const text& a, const text& b, std::uint64_t from);
  order_code code(const text& t, std::uint64_t column, std::uint64_t columns_before);
  found difference(const run_record& a, const run_record& b, std::uint64_t column);

  const record_layout& layout_;
  const bool reverse_;
  const bool ties_by_line_;
  source_view views_[2];
};

}  // namespace isotherm::sort
