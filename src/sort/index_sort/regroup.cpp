#include "sort/index_sort/regroup.hpp"

#include <algorithm>

#include "sort/runs/reader.hpp"

namespace isotherm::sort {

std::uint64_t regrouping::hold(std::uint64_t offset) {
  if (!planned()) return ctx_.input.size();
  const stage_timer timer(ctx_.job, sort_stage::run_read);
  const std::uint64_t n =
      std::min<std::uint64_t>(ctx_.plan.regroup_bytes, ctx_.input.size() - offset);
  if (piece_.size() == 0) {
    auto memory = os::buffer::reserve(n);
    if (!ctx_.job.keep(memory)) return offset;
    piece_ = std::move(*memory);
  }
  ctx_.input.hold({}, 0);
  const std::span<std::byte> bytes(piece_.data(), n);
  pooled_read(ctx_, ctx_.input.handle(), bytes, offset, sort_stage::run_read);
  if (!ctx_.job.stopped()) ctx_.input.hold(bytes, offset);
  return offset + n;
}

void regrouping::write(std::span<entry> sorted, const std::string& directory) {
  if (!planned()) return;
  if (!out_) {
    auto f = os::file::unnamed(directory);
    if (!ctx_.job.keep(f)) return;
    file_ = std::move(*f);
    out_.emplace(ctx_, file_, sort_stage::run_write);
    if (!out_->reserve()) return;
  }
  std::uint64_t at = out_->bytes();
  out_->emit(sorted);
  out_->finish();  // its run is written next, and only one may write
  source_view view(ctx_.job, ctx_.input);
  for (entry& e : sorted) {
    const std::uint64_t bytes = ctx_.layout.locate(e, view).bytes;
    e = ctx_.layout.moved(e, at);
    if (bytes >= kLongRecord) long_.push_back({at, bytes});
    at += bytes;
  }
}

source& regrouping::finish() {
  ctx_.input.hold({}, 0);
  piece_ = os::buffer();
  if (!out_) return ctx_.input;
  out_.reset();
  auto all = source::of(std::move(file_));
  if (!ctx_.job.keep(all)) return ctx_.input;
  written_ = std::move(*all);
  for (const extent& x : long_) written_->note_length(x.offset, x.bytes);
  written_->set_regrouped();
  return *written_;
}

}  // namespace isotherm::sort
