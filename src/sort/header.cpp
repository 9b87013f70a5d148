#include "sort/header.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kPiece = 64 << 10;

}  // namespace

base::result<std::uint64_t> header_bytes(const source& input, const sort_options& o) {
  std::vector<std::byte> piece(o.header_lines == 0 ? 0 : kPiece);
  std::uint64_t at = 0;
  for (std::uint64_t left = o.header_lines; left > 0 && at < input.size();) {
    const auto bytes = std::span(piece).first(std::min(kPiece, input.size() - at));
    if (auto r = input.handle().read(bytes, at); !r) return std::unexpected(r.error());
    const auto end = std::ranges::find(bytes, static_cast<std::byte>(o.line_end));
    left -= end != bytes.end();
    at += static_cast<std::uint64_t>(end - bytes.begin()) + (end != bytes.end());
  }
  return at;
}

void copy_header(const context& ctx, const os::file& out) {
  std::vector<std::byte> piece(kPiece);
  const std::uint64_t bytes = ctx.plan.header_bytes;
  for (std::uint64_t at = 0; at < bytes && !ctx.job.stopped(); at += kPiece) {
    const auto part = std::span(piece).first(std::min(kPiece, bytes - at));
    if (!ctx.job.keep(ctx.input.handle().read(part, at))) return;
    if (!ctx.job.keep(out.write(part, at))) return;
    const auto end = static_cast<std::byte>(ctx.job.options.line_end);
    if (at + part.size() == ctx.input.size() && part.back() != end) {
      ctx.job.keep(out.write({&end, 1}, ctx.input.size()));
    }
  }
}

}  // namespace isotherm::sort
