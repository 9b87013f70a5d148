// Looking at the order of an input.
#include <isotherm/sort.hpp>

#include <unistd.h>

#include <algorithm>

#include "os/files/spool.hpp"
#include "sort/checks.hpp"
#include "sort/input/header.hpp"
#include "sort/plan/context.hpp"
#include "sort/runs/loader.hpp"

namespace isotherm {
namespace {

/// Returns the number of the first record that is out of order and its place; 0 if there is none.
std::pair<std::uint64_t, sort::extent> find_in(const sort::context& ctx) {
  constexpr std::size_t kBatch = 16384;
  constexpr std::size_t kAheadBytes = 256 << 10;
  sort::loader load(ctx);
  sort::source_view view(ctx.job, ctx.input, kAheadBytes);
  std::vector<sort::entry> entries(kBatch);
  std::uint64_t number = 0;
  sort::entry last = 0;
  while (!load.at_end() && !ctx.job.stopped()) {
    const std::size_t n = load.load(entries);
    for (const sort::entry e : std::span(entries).first(n)) {
      if (++number > 1 && (ctx.layout.compare(last, e, view) > 0 ||
                           (ctx.job.options.unique && ctx.layout.same_key(last, e, view)))) {
        return {number, ctx.layout.locate(e, view)};
      }
      last = e;
    }
  }
  return {};
}

}  // namespace

base::result<std::optional<disorder>> find_disorder(const std::string& input,
                                                    const sort_options& options) {
  const auto directory = sort::directory_for_copies(options, os::usual_directory());
  if (!directory) return std::unexpected(directory.error());
  sort::job j(options, nullptr);
  auto in = sort::source::open_or_copy(j, {os::spelled_out(input, STDIN_FILENO)}, *directory, 0);
  if (!in) return std::unexpected(in.error());
  if (auto r = sort::check_options(options, in->size()); !r) return std::unexpected(r.error());
  sort::plan p;
  p.sequential_load = true;
  const auto header = in->header_bytes(options);
  if (!header) return std::unexpected(header.error());
  p.header_bytes = *header;
  const auto resolved = sort::with_columns(options, in->handle(), *header);
  if (!resolved) return std::unexpected(resolved.error());
  const sort::record_layout layout(*resolved);
  const auto [number, at] = find_in({j, p, *in, layout});
  if (auto r = j.status(); !r) return std::unexpected(r.error());
  if (number == 0) return std::nullopt;
  disorder found{options.header_lines + number,
                 std::vector<std::byte>(std::min(at.bytes, in->size() - at.offset))};
  if (auto r = in->handle().read(found.record, at.offset); !r) return std::unexpected(r.error());
  return found;
}

}  // namespace isotherm
