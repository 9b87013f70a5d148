#include "sort/merge/record_order.hpp"

#include <algorithm>

namespace isotherm::sort {

auto record_order::text_of(const run_record& r, compared by) const noexcept -> text {
  if (r.long_record.bytes != 0) [[unlikely]] {
    if (by == compared::line) {
      return {nullptr, 0, r.long_record.bytes - 1, r.long_record.offset, nullptr};
    }
    const extent* const line = layout_.order().made() ? &r.long_record : nullptr;
    return {r.key.data(), r.key.size(), r.long_key.bytes, r.long_key.offset, line};
  }
  if (by == compared::key) return {r.key.data(), r.key.size(), r.key.size(), 0, nullptr};
  return {r.bytes.data(), r.bytes.size() - 1, r.bytes.size() - 1, 0, nullptr};
}

const std::byte* record_order::bytes_of(const text& t, std::uint64_t at, std::uint64_t n,
                                        source_view& view) {
  if (at + n <= t.in_memory) return t.memory + at;
  if (t.line == nullptr) return view.bytes(t.offset + at, n);
  const record_key made = layout_.line_key(*t.line, view);
  return made.size() == t.bytes ? made.bytes(view, at, n) : nullptr;  // else the sort has failed
}

/// How many bytes at the front of two texts agree, which is known of the first `from`.
std::uint64_t record_order::agreeing(const text& a, const text& b, std::uint64_t from) {
  constexpr std::uint64_t kPiece = 16 << 10;
  std::uint64_t at = from;
  const std::uint64_t in_memory = std::min(a.in_memory, b.in_memory);
  if (at < in_memory) at += common_prefix(a.memory + at, b.memory + at, in_memory - at);
  if (at < in_memory) return at;
  for (const std::uint64_t end = std::min(a.bytes, b.bytes); at < end;) {
    const std::uint64_t n = std::min(kPiece, end - at);
    const std::byte* x = bytes_of(a, at, n, views_[0]);
    const std::byte* y = bytes_of(b, at, n, views_[1]);
    if (x == nullptr || y == nullptr) return end;  // the sort has failed
    const std::size_t same = common_prefix(x, y, n);
    at += same;
    if (same < n) break;
  }
  return at;
}

/// The code of `t` against a text with which it agrees in all columns before `column`;
/// `columns_before` are those of its key where `t` is a line.
order_code record_order::code(const text& t, std::uint64_t column, std::uint64_t columns_before) {
  if (column + columns_before >= kMostColumns) return order_code{1} << kColumnBits;
  const std::uint64_t at = column * kWidth;
  const std::uint64_t n = std::min<std::uint64_t>(kWidth, t.bytes - at);
  order_code value = 0;
  if (at + sizeof value <= t.in_memory) {
    std::memcpy(&value, t.memory + at, sizeof value);
    value = __builtin_bswap64(value) >> (64 - 8 * kWidth);
  } else if (const std::byte* bytes = bytes_of(t, at, n, views_[0]); bytes != nullptr) {
    for (unsigned i = 0; i < kWidth; ++i) {
      value = value << 8 | (i < n ? static_cast<order_code>(bytes[i]) : 0);
    }
  }
  value = value << 3 | n;
  if (reverse_) value ^= kColumnMask;
  return (kMostColumns + 1 - (column + columns_before)) << kColumnBits | value;
}

/// Compares records that agree in all columns before `column`.
auto record_order::difference(const run_record& a, const run_record& b, std::uint64_t column)
    -> found {
  std::uint64_t before = 0;
  for (const compared by : {compared::key, compared::line}) {
    const text x = text_of(a, by);
    const text y = text_of(b, by);
    const std::uint64_t from = (column - std::min(column, before)) * kWidth;
    const std::uint64_t common = from > x.bytes ? x.bytes : agreeing(x, y, from);
    if (common < std::max(x.bytes, y.bytes)) {
      const order_code of_a = code(x, common / kWidth, before);
      const order_code of_b = code(y, common / kWidth, before);
      bool a_first = of_a < of_b;
      if (of_a == of_b) {  // there are too many columns for codes
        const std::byte* p = common < x.bytes ? bytes_of(x, common, 1, views_[0]) : nullptr;
        const std::byte* q = common < y.bytes ? bytes_of(y, common, 1, views_[1]) : nullptr;
        a_first = (p == nullptr || (q != nullptr && *p < *q)) != reverse_;
      }
      return a_first ? found{-1, of_b} : found{1, of_a};
    }
    if (!ties_by_line_) break;
    before = x.bytes / kWidth + 1;
  }
  return {0, kSame};
}

}  // namespace isotherm::sort
