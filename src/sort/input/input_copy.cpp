#include "sort/input/input_copy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "os/files/spool.hpp"
#include "os/memory/buffer.hpp"
#include "sort/input/header.hpp"
#include "sort/keys/record_ends.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kPiece = 1 << 20;

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

}  // namespace

base::result<os::file> file_copy(const os::file& f, const std::string& directory) {
  auto copy = os::file::unnamed(directory);
  if (!copy) return copy;
  if (auto r = os::pour(f, *copy); !r) return std::unexpected(r.error());
  return copy;
}

/// Looks at one of several inputs as it is copied.
struct input_copy::scan {
  explicit scan(const sort_options& o) : options(o), ends(o) {}

  /// Takes the next piece of the input and returns the bytes of it that are copied.
  bytes_view take(bytes_view piece) {
    const std::size_t mark = options.csv && !began ? order_mark_bytes(piece) : 0;
    began = true;
    bytes_view text = pass_header(piece.subspan(mark));
    if (options.csv) count_rows(text);
    return is_first ? piece : text;
  }
  bytes_view pass_header(bytes_view text) {
    while (header_lines > 0 && !text.empty()) {
      const std::size_t n = ends.find(text);
      const bytes_view part_of_header = n == 0 ? text : text.first(n);
      if (options.csv && rows == 0) {
        const bytes_view names =
            part_of_header.first(std::min(part_of_header.size(), kMostNames - header.size()));
        header.insert(header.end(), names.begin(), names.end());
      }
      text = text.subspan(part_of_header.size());
      rows += n != 0;
      header_lines -= n != 0;
    }
    return text;
  }
  void count_rows(bytes_view text) {
    for (std::size_t n = 0; (n = ends.find(text)) != 0; ++rows) text = text.subspan(n);
  }

  const sort_options& options;
  record_ends ends;
  std::uint64_t header_lines = 0;  // that are still to be left out
  bool is_first = false;           // all of the input is copied, its order mark too
  bool began = false;
  std::uint64_t rows = 0;         // that have ended, the header's included
  std::vector<std::byte> header;  // first row of CSV, left out; at most kMostNames
};

base::result<void> input_copy::begin() {
  auto f = room_ > 0 ? os::file::in_memory("a copy of the input") : os::file::unnamed(directory_);
  if (!f) return std::unexpected(f.error());
  file_ = std::move(*f);
  return {};
}

base::result<void> input_copy::append(input_reader& in, const std::string& name, last_record end) {
  const std::uint64_t begin = bytes_;
  scan s(options_);
  s.is_first = begin == 0;
  if (header_bytes_) s.header_lines = options_.header_lines;
  if (auto r = copy(in, s); !r) return r;
  if (!several_) return {};
  if (auto r = check(s, name, begin); !r) return r;
  if (end == last_record::ended) {
    if (auto r = end_record(begin); !r) return r;
  }
  return header_bytes_ || bytes_ == 0 ? base::result<void>{} : read_header(name);
}

base::result<void> input_copy::copy(input_reader& in, scan& s) {
  const bool looks = several_ && options_.format == record_format::lines;
  auto piece = os::buffer::reserve(kPiece);
  if (!piece) return std::unexpected(piece.error());
  const std::span<std::byte> room(piece->data(), piece->size());
  for (;;) {
    const auto n = in.read(room);
    if (!n) return std::unexpected(n.error());
    if (*n == 0) return {};
    const bytes_view bytes = room.first(*n);
    if (auto r = write(looks ? s.take(bytes) : bytes); !r) return r;
  }
}

base::result<void> input_copy::check(const scan& s, const std::string& name,
                                     std::uint64_t begin) const {
  const bool fixed = options_.format == record_format::fixed;
  if (fixed && options_.record_bytes > 0 && bytes_ % options_.record_bytes != 0) {
    return refused(
        fmt::format("an input has {} bytes, no multiple of the record of {}: it is cut, or "
                    "--record is wrong",
                    bytes_ - begin, options_.record_bytes));
  }
  if (s.ends.within_quotes()) {
    return refused(
        fmt::format("{}: row {} opens a quote that is not closed: close or double it, or sort "
                    "lines without --csv",
                    name, s.rows + 1));
  }
  if (!s.header.empty() && column_names(s.header, options_) != columns_) {
    return refused(
        fmt::format("{}: its header names other columns than that of {}: sort inputs "
                    "with the same columns together",
                    name, header_of_));
  }
  return {};
}

/// Ends the last record of the input that was copied from `begin` on, so that the next input begins
/// with a record.
base::result<void> input_copy::end_record(std::uint64_t begin) {
  if (options_.format != record_format::lines || bytes_ == begin) return {};
  std::byte last{};
  if (auto r = file_.read({&last, 1}, bytes_ - 1); !r) return r;
  if (last == std::byte(options_.line_end)) return {};
  last = std::byte(options_.line_end);
  return write({&last, 1});
}

base::result<void> input_copy::read_header(const std::string& name) {
  const auto n = find_header(file_, bytes_, options_);
  if (!n) return std::unexpected(n.error());
  header_bytes_ = *n;
  header_of_ = name;
  if (!options_.csv || options_.header_lines == 0) return {};
  std::vector<std::byte> header(std::min(*n, kMostNames));
  if (auto r = file_.read(header, 0); !r) return r;
  columns_ = column_names(header, options_);
  return {};
}

base::result<void> input_copy::write(bytes_view bytes) {
  if (room_ > 0 && bytes_ + bytes.size() > room_) {
    auto moved = file_copy(file_, directory_);
    if (!moved) return std::unexpected(moved.error());
    file_ = std::move(*moved);
    room_ = 0;
  }
  if (auto r = file_.write(bytes, bytes_); !r) return r;
  bytes_ += bytes.size();
  return {};
}

}  // namespace isotherm::sort
