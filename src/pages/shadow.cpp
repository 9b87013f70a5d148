#include "pages/shadow.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace isotherm::pages {
namespace {

constexpr std::size_t kPageMarkBytes = 4096 / 8;
constexpr std::size_t kPieceBytes = 1 << 20;

/// Visits the pages whose marks are in `piece`, which begins with those of page `number`.
void visit_piece(std::span<const std::uint64_t> piece, std::uint64_t number,
                 const std::function<void(const marked_page&)>& visit) {
  for (; piece.size() >= kLinesPerPage; piece = piece.subspan(kLinesPerPage), ++number) {
    const auto bytes = piece.first<kLinesPerPage>();
    if (std::ranges::any_of(bytes, [](std::uint64_t line) { return line != 0; })) {
      visit({.number = number, .bytes = bytes});
    }
  }
}

}  // namespace

base::result<shadow> shadow::create() {
  shadow made;
  auto file = os::file::in_memory("the marks of used bytes");
  if (!file) return std::unexpected(file.error());
  made.file_ = std::move(*file);
  if (auto r = made.file_.resize(kAreas * kAreaBytes); !r) return std::unexpected(r.error());
  auto mapped = os::mapping::map(made.file_, kAreas * kAreaBytes, os::mapping_access::read_write);
  if (!mapped) return std::unexpected(mapped.error());
  made.mapped_ = std::move(*mapped);
  return made;
}

base::result<void> shadow::for_each_page(
    unsigned area, const std::function<void(const marked_page&)>& visit) const {
  const std::uint64_t begin = area * kAreaBytes, end = begin + kAreaBytes;
  std::vector<std::uint64_t> piece(kPieceBytes / sizeof(std::uint64_t));
  for (std::uint64_t at = begin; at < end;) {
    const auto found = file_.data_from(at);
    if (!found) return std::unexpected(found.error());
    const std::optional<os::file_part> data = *found;
    if (!data || data->begin >= end) return {};
    const std::uint64_t stop = std::min(data->end, end);
    for (at = data->begin; at < stop;) {
      const std::size_t bytes = std::min<std::uint64_t>(kPieceBytes, stop - at);
      const auto words = std::span(piece).first(bytes / sizeof(std::uint64_t));
      if (auto r = file_.read(std::as_writable_bytes(words), at); !r) return r;
      visit_piece(words, (at - begin) / kPageMarkBytes, visit);
      at += bytes;
    }
  }
  return {};
}

base::result<void> shadow::clear(unsigned area) const {
  return file_.punch_hole(area * kAreaBytes, kAreaBytes);
}

}  // namespace isotherm::pages
