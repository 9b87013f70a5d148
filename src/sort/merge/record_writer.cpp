#include "sort/merge/record_writer.hpp"

#include "sort/runs/runs.hpp"

namespace isotherm::sort {

bool record_writer::reserve() {
  for (auto& b : buffers_) {
    auto r = os::buffer::reserve(ctx_.plan.output_buffer_bytes);
    if (!ctx_.job.keep(r)) return false;
    b = std::move(*r);
  }
  return true;
}

void record_writer::write(sort_stage outer) {
  const std::span<const std::byte> bytes(buffers_[turn_].data(), filled_);
  if (writing_.joinable()) writing_.join();
  if (overlap_ == overlap::beside) {
    ctx_.job.beside(writing_, [this, bytes, file = file_, on = on_, offset = offset_] {
      const stage_timer timer(ctx_.job, stage_);
      pooled_write(ctx_, on, *file, bytes, offset, stage_);
    });
    turn_ ^= 1;
  } else {
    const stage_timer timer(ctx_.job, stage_, outer);
    pooled_write(ctx_, on_, *file_, bytes, offset_, stage_);
  }
  offset_ += filled_;
  filled_ = 0;
  ctx_.job.progress(stage_, offset_, ctx_.input.size());
}

void record_writer::go_to(const run_place& to) {
  if (file_ == &to.file) return;
  if (filled_ > 0) flush();
  file_ = &to.file;
  on_ = to.at.use;
  offset_ = to.end;
}

void record_writer::finish() {
  if (filled_ > 0) write(stage_);
  if (writing_.joinable()) writing_.join();
}

}  // namespace isotherm::sort
