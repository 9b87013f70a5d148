#include "sort/index_sort/regroup.hpp"

#include <algorithm>

#include "sort/runs/reader.hpp"

namespace isotherm::sort {

std::uint64_t regrouping::hold(std::uint64_t offset) {
  if (!planned()) return in_.size();
  const stage_timer timer(job_, sort_stage::run_read);
  const std::uint64_t n = std::min<std::uint64_t>(plan_.regroup_bytes, in_.size() - offset);
  if (piece_.size() == 0) {
    auto memory = device::buffer::reserve(n);
    if (!job_.keep(memory)) return offset;
    piece_ = std::move(*memory);
  }
  in_.hold({}, 0);
  const std::span<std::byte> bytes(piece_.data(), n);
  pooled_read(job_, plan_.read_threads, in_.handle(), bytes, offset, sort_stage::run_read);
  if (!job_.stopped()) in_.hold(bytes, offset);
  return offset + n;
}

void regrouping::write(std::span<entry> sorted, const std::string& directory) {
  if (!planned()) return;
  if (!out_) {
    auto f = device::file::unnamed(directory);
    if (!job_.keep(f)) return;
    file_ = std::move(*f);
    out_.emplace(job_, plan_, in_, layout_, file_, sort_stage::run_write);
    if (!out_->reserve()) return;
  }
  std::uint64_t at = out_->bytes();
  out_->emit(sorted);
  out_->finish();  // the run's own writing comes next, and one at a time may
  source_view view(job_, in_);
  for (entry& e : sorted) {
    const std::uint64_t bytes = layout_.locate(e, view).bytes;
    e = layout_.moved(e, at);
    if (bytes >= kLongRecord) long_.push_back({at, bytes});
    at += bytes;
  }
}

const source& regrouping::finish() {
  in_.hold({}, 0);
  piece_ = device::buffer();
  if (!out_) return in_;
  out_.reset();
  auto all = source::of(std::move(file_));
  if (!job_.keep(all)) return in_;
  written_ = std::move(*all);
  for (const extent& x : long_) written_->note_length(x.offset, x.bytes);
  written_->set_regrouped();
  return *written_;
}

}  // namespace isotherm::sort
