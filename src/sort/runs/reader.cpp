#include "sort/runs/reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/check.hpp"
#include "base/page.hpp"
#include "device/stream.hpp"
#include "os/files/file.hpp"
#include "os/thread_pool.hpp"
#include "sort/coding/codec.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kIoStep = 1 << 20;

void read_by(const context& ctx, const device_use& on, const os::file& f,
             std::span<std::byte> target, std::uint64_t offset, sort_stage stage) {
  const unsigned useful =
      static_cast<unsigned>(std::clamp<std::size_t>(target.size() >> 14, 1, on.read_threads));
  const device::stream_group group(on.emulation, device::access::sequential_read, useful);
  ctx.job.readers.run(useful, [&](unsigned t) {
    device::stream stream(group);
    const auto [begin, end] = os::part_of(target.size(), useful, t);
    for (std::size_t at = begin; at < end && !ctx.job.stopped(); at += kIoStep) {
      const std::size_t n = std::min<std::size_t>(kIoStep, end - at);
      if (!ctx.job.keep(stream.read(f, target.subspan(at, n), offset + at))) return;
    }
  });
  ctx.job.count(stage, target.size(), 0);
}

}  // namespace

void pooled_read(const context& ctx, std::span<std::byte> target, std::uint64_t offset,
                 sort_stage stage) {
  read_by(ctx, main_use(ctx.plan, ctx.job.emulation), ctx.input.handle(), target, offset, stage);
}

void pooled_read(const context& ctx, const run_place& from, std::span<std::byte> target,
                 std::uint64_t offset, sort_stage stage) {
  read_by(ctx, from.at.use, from.file, target, offset, stage);
}

base::error damage_of(const os::file& f) {
  return {"what was read from " + f.path() +
              " is not what was written there: the device failed, or another program changed it; "
              "nothing was written; name another directory by --tmp",
          0};
}

void give_back(job& j, const os::file& f, std::uint64_t first, std::uint64_t from,
               std::uint64_t to) {
  const std::uint64_t whole = (first + base::kPageBytes - 1) / base::kPageBytes * base::kPageBytes;
  const std::uint64_t begin = std::max(whole, from / base::kPageBytes * base::kPageBytes);
  const std::uint64_t end = to / base::kPageBytes * base::kPageBytes;
  if (begin < end) j.keep(f.discard(begin, end - begin));
}

run_reader::run_reader(const context& ctx, const run& r, std::span<std::byte> window,
                       after_reading space)
    : ctx_(ctx),
      run_(r),
      compressed_(r.compressed),
      space_(space),
      packed_(ctx.layout.entries().packed_bytes()),
      window_(window) {
  ISO_CHECK(window.size() >= kLeastWindow, "a run is read through a larger window");
  if (!compressed_) return;
  block_ = {reinterpret_cast<entry*>(window.data()), kBlockEntries};
  window_ = window.subspan(block_.size_bytes());
}

/// Moves the unread bytes to the window's front and reads more behind them. Returns whether
/// `needed` bytes are there then.
bool run_reader::fill(std::size_t needed) {
  std::memmove(window_.data(), &window_[at_], end_ - at_);
  end_ -= at_;
  at_ = 0;
  const stage_timer timer(ctx_.job, sort_stage::merge_read, sort_stage::merge_other);
  const std::size_t room = window_.size() - kBlockSlack;  // decoding reads a little further
  while (end_ < room && segment_ < run_.segments.size()) {
    if (ctx_.job.stopped()) return false;
    const run_segment& s = run_.segments[segment_];
    const std::size_t n = std::min<std::uint64_t>(room - end_, s.bytes - read_);
    pooled_read(ctx_, *run_.place, window_.subspan(end_, n), s.offset + read_,
                sort_stage::merge_read);
    if (ctx_.job.stopped()) return false;
    if (space_ == after_reading::give_back) {
      give_back(ctx_.job, run_.place->file, s.offset, s.offset + read_, s.offset + read_ + n);
    }
    end_ += n;
    read_ += n;
    if (read_ == s.bytes) {
      ++segment_;
      read_ = 0;
    }
  }
  return end_ >= needed || (end_ > 0 && damaged());
}

bool run_reader::next_block() {
  if (end_ - at_ < kBlockHeaderBytes && !fill(kBlockHeaderBytes)) return false;
  const auto length =
      block_length(ctx_.layout.entries(), std::span<const std::byte, kBlockHeaderBytes>(
                                              window_.subspan(at_).first<kBlockHeaderBytes>()));
  if (!length) return damaged();
  if (end_ - at_ < *length && !fill(*length)) return false;
  block_at_ = 0;
  block_end_ = decode_block(ctx_.layout.entries(), window_.subspan(at_, *length), block_.data());
  at_ += *length;
  return block_end_ > 0 || damaged();
}

bool run_reader::damaged() {
  block_at_ = block_end_ = 0;
  ctx_.job.fail(damage_of(run_.place->file));
  return false;
}

}  // namespace isotherm::sort
