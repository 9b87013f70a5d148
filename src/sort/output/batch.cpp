#include "sort/output/batch.hpp"

#include <algorithm>

namespace isotherm::sort {

std::size_t batch::take(std::span<entry> entries) {
  const std::size_t most = std::min(entries.size(), ctx_.plan.queue_entries);
  if (ctx_.layout.fixed()) {
    const std::size_t n =
        std::min(most, ctx_.plan.output_buffer_bytes / ctx_.layout.record_bytes());
    entries_ = entries.first(n);
    bytes_ = n * ctx_.layout.record_bytes();
    return n;
  }
  source_view view(ctx_.job, ctx_.input);
  starts_.clear();
  bytes_ = 0;
  for (std::size_t i = 0; i < most; ++i) {
    const std::uint64_t bytes = ctx_.layout.locate(entries[i], view).bytes;
    if (bytes_ + bytes > ctx_.plan.output_buffer_bytes) break;
    starts_.push_back(static_cast<std::uint32_t>(bytes_));
    bytes_ += bytes;
  }
  entries_ = entries.first(starts_.size());
  return entries_.size();
}

std::size_t batch::end_of_piece(std::size_t begin, std::size_t end, std::uint64_t bytes) const {
  if (ctx_.layout.fixed()) {
    return std::min<std::uint64_t>(
        end, begin + std::max<std::uint64_t>(1, bytes / ctx_.layout.record_bytes()));
  }
  const auto from = starts_.begin() + static_cast<std::ptrdiff_t>(begin);
  const auto last = starts_.begin() + static_cast<std::ptrdiff_t>(end);
  // The piece ends where a record begins: the last that begins within `bytes` of its start.
  const auto behind = std::upper_bound(from + 1, last, *from + bytes);
  if (behind == last && start_of(end) <= *from + bytes) return end;
  return std::max<std::size_t>(begin + 1, static_cast<std::size_t>(behind - starts_.begin()) - 1);
}

}  // namespace isotherm::sort
