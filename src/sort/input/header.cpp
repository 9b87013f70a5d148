#include "sort/input/header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sort/keys/csv.hpp"
#include "sort/keys/record_ends.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kPiece = 64 << 10;

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

/// Returns the number, from 1, of the column that is called `name`.
base::result<unsigned> number_of(const std::string& name, const std::vector<std::string>& columns) {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) {
    constexpr std::size_t kMostNamed = 20;
    const auto some = std::span(columns).first(std::min(columns.size(), kMostNamed));
    return refused(fmt::format("-k '{}': the header has no column of that name; it has {}{}", name,
                               fmt::join(some, ", "), some.size() < columns.size() ? ", ..." : ""));
  }
  const auto number = static_cast<unsigned>(found - columns.begin()) + 1;
  const auto again = std::find(found + 1, columns.end(), name);
  if (again == columns.end()) return number;
  return refused(fmt::format("-k '{}': columns {} and {} have that name; give the number of one",
                             name, number, again - columns.begin() + 1));
}

constexpr std::byte kMark[] = {std::byte{0xef}, std::byte{0xbb}, std::byte{0xbf}};

/// Returns the bytes of the byte order mark at the front of `f`, which has `size` bytes.
base::result<std::uint64_t> find_order_mark(const os::file& f, std::uint64_t size) {
  std::byte front[std::size(kMark)];
  const auto there = std::span(front).first(std::min<std::uint64_t>(size, std::size(kMark)));
  if (auto r = f.read(there, 0); !r) return std::unexpected(r.error());
  return order_mark_bytes(there);
}

}  // namespace

std::size_t order_mark_bytes(bytes_view text) noexcept {
  const bool there =
      text.size() >= std::size(kMark) && std::ranges::equal(text.first(std::size(kMark)), kMark);
  return there ? std::size(kMark) : 0;
}

base::result<std::uint64_t> find_header(const os::file& f, std::uint64_t size,
                                        const sort_options& o) {
  if (o.header_lines == 0) return o.csv ? find_order_mark(f, size) : 0;
  std::vector<std::byte> piece(kPiece);
  record_ends ends(o);
  std::uint64_t at = 0;
  std::uint64_t found = 0;
  while (found < o.header_lines && at < size) {
    const std::span bytes = std::span(piece).first(std::min(kPiece, size - at));
    if (auto r = f.read(bytes, at); !r) return std::unexpected(r.error());
    const std::size_t mark = o.csv && at == 0 ? order_mark_bytes(bytes) : 0;
    const std::size_t n = ends.find(bytes.subspan(mark));
    found += n != 0;
    at += n != 0 ? mark + n : bytes.size();
  }
  if (!ends.within_quotes()) return at;
  return refused(fmt::format("row {} of the header opens a quote that is not closed", found + 1));
}

std::vector<std::string> column_names(bytes_view header, const sort_options& o) {
  const bytes_view text = header.subspan(order_mark_bytes(header));
  const std::size_t end = record_ends(o).find(text);
  std::vector<std::string> names;
  std::vector<std::byte> room;
  const bytes_view row = end == 0 ? text : text.first(end - 1);
  for (const part at : all_columns(row, delimiter_of(o))) {
    const bytes_view name = contents_of(row.subspan(at.begin, at.end - at.begin), room);
    names.emplace_back(reinterpret_cast<const char*>(name.data()), name.size());
  }
  return names;
}

base::result<sort_options> with_columns(const sort_options& options, const os::file& f,
                                        std::uint64_t header_bytes) {
  const auto is_named = [](const sort_key& k) { return !k.column.empty(); };
  if (std::ranges::none_of(options.keys, is_named)) return options;
  std::vector<std::byte> header(std::min(header_bytes, kMostNames));
  if (auto r = f.read(header, 0); !r) return std::unexpected(r.error());
  const std::vector<std::string> columns = column_names(header, options);
  sort_options o = options;
  for (sort_key& k : o.keys) {
    if (!is_named(k)) continue;
    const auto number = number_of(k.column, columns);
    if (!number) return std::unexpected(number.error());
    k.first_field = k.last_field = *number;
    k.column.clear();
  }
  return o;
}

}  // namespace isotherm::sort
