#include "sort/header.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "sort/input/header.hpp"
#include "sort/keys/record_ends.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kPiece = 64 << 10;

/// Copies the header of the input to the front of `out`, and ends its last line where the input
/// does not.
void copy_header(const context& ctx, const os::file& out) {
  std::vector<std::byte> piece(kPiece);
  const std::uint64_t bytes = ctx.plan.header_bytes;
  for (std::uint64_t at = 0; at < bytes && !ctx.job.stopped(); at += kPiece) {
    const auto part = std::span(piece).first(std::min(kPiece, bytes - at));
    if (!ctx.job.keep(ctx.input.handle().read(part, at))) return;
    if (!ctx.job.keep(out.write(part, at))) return;
    const auto end = static_cast<std::byte>(ctx.job.options.line_end);
    const bool has_lines = ctx.job.options.header_lines != 0;  // else it is a byte order mark
    if (has_lines && at + part.size() == ctx.input.size() && part.back() != end) {
      ctx.job.keep(out.write({&end, 1}, ctx.input.size()));
    }
  }
}

}  // namespace

base::result<std::vector<std::byte>> counted_header(const source& input, std::uint64_t bytes,
                                                    const record_layout& layout,
                                                    const sort_options& o) {
  static constexpr std::string_view kName = "count";
  std::vector<std::byte> counted;
  if (o.header_lines == 0 || bytes == 0 || !o.csv || !o.count) return counted;
  std::vector<std::byte> header(std::min(bytes, kMostNames));
  if (auto r = input.handle().read(header, 0); !r) return std::unexpected(r.error());
  const bytes_view text = bytes_view(header).subspan(order_mark_bytes(header));
  const std::size_t end = record_ends(o).find(text);
  const made_key names = layout.order().text(end == 0 ? text : text.first(end - 1));
  const auto append = [&](bytes_view some) {
    counted.insert(counted.end(), some.begin(), some.end());
  };
  append(std::as_bytes(std::span(kName)));
  counted.push_back(static_cast<std::byte>(layout.count_end()));
  append(names);
  counted.push_back(static_cast<std::byte>(layout.line_end()));
  return counted;
}

void write_header(const context& ctx, bytes_view counted, const os::file& out) {
  if (counted.empty()) return copy_header(ctx, out);
  ctx.job.keep(out.write(counted, 0));
}

}  // namespace isotherm::sort
