#include "sort/merge/record_merge.hpp"

namespace isotherm::sort {

void reduce_runs(const context& ctx, run_files& all, std::size_t fan_in,
                 const std::function<void(record_writer&, std::span<const record_run>)>& merge) {
  while (all.runs.size() > fan_in && !ctx.job.stopped()) {
    // The smallest neighbours, and only as many as the last merge cannot take.
    const std::size_t n = std::min(fan_in, all.runs.size() - fan_in + 1);
    const auto bytes_from = [&](std::size_t first) {
      std::uint64_t bytes = 0;
      for (std::size_t i = first; i < first + n; ++i) bytes += all.runs[i].bytes;
      return bytes;
    };
    std::size_t first = 0;
    for (std::size_t i = 1; i + n <= all.runs.size(); ++i) {
      if (bytes_from(i) < bytes_from(first)) first = i;
    }
    run_place* const place = all.places.take(bytes_from(first));
    if (place == nullptr) return;
    record_writer to(ctx, *place, overlap_of(ctx), sort_stage::merge_write,
                     sort_stage::merge_other);
    if (!to.reserve()) return;
    merge(to, std::span(all.runs).subspan(first, n));
    to.finish();
    const auto at = all.runs.begin() + static_cast<std::ptrdiff_t>(first);
    *at = all.add(*place, to.offset() - place->end);
    all.runs.erase(at + 1, at + static_cast<std::ptrdiff_t>(n));
  }
}

}  // namespace isotherm::sort
