#include "sort/top/top.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <queue>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "os/thread_pool.hpp"
#include "sort/scan/each_record.hpp"
#include "sort/scan/record_blocks.hpp"
#include "sort/top/candidates.hpp"

namespace isotherm::sort {
namespace {

/// Appends to the output: records, or groups as --count writes them.
class writer {
 public:
  writer(const context& ctx, const os::file& out)
      : ctx_(ctx), out_(out), written_(ctx.plan.output_header_bytes) {}

  void write(const record_in_memory& c, std::uint64_t count) {
    const bool counts = ctx_.job.options.count;
    const bool text = ctx_.job.options.format == record_format::lines;
    if (counts && text) {
      const std::string head = fmt::format("{}{}", count, ctx_.layout.count_end());
      append(std::as_bytes(std::span(head)));
    }
    if (counts && ctx_.layout.order().made()) {
      append(ctx_.layout.order().text({c.first, c.bytes - 1}));
    } else {
      append({c.first, c.bytes});
    }
    if (counts) {
      append(text ? std::as_bytes(std::span(&ctx_.job.options.line_end, 1))
                  : std::as_bytes(std::span(&count, 1)));
    }
    ++records_;
    if (pending_.size() >= kPiece) flush();
  }
  void finish(outcome& o) {
    flush();
    o.records_written = records_;
    o.bytes_written = written_;
  }

 private:
  static constexpr std::size_t kPiece = 256 << 10;

  void append(std::span<const std::byte> bytes) {
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  void flush() {
    if (ctx_.job.stopped() || !ctx_.job.keep(out_.write(pending_, written_))) return;
    ctx_.job.count(sort_stage::run_write, 0, pending_.size());
    written_ += pending_.size();
    pending_.clear();
  }

  const context ctx_;
  const os::file& out_;
  std::vector<std::byte> pending_;
  std::uint64_t written_;
  std::uint64_t records_ = 0;
};

/// Merges what the threads have kept, each in order, into the first `top` of all.
void merge(const context& ctx, std::vector<std::span<const record_in_memory>> kept, writer& to) {
  const bool once = ctx.job.options.unique || ctx.job.options.count;
  const auto later = [&](unsigned a, unsigned b) {
    return comes_before(ctx.layout, kept[b].front(), kept[a].front());
  };
  std::priority_queue<unsigned, std::vector<unsigned>, decltype(later)> next(later);
  for (unsigned t = 0; t < kept.size(); ++t) {
    if (!kept[t].empty()) next.push(t);
  }
  const auto take = [&] {
    const unsigned t = next.top();
    next.pop();
    const record_in_memory& first = kept[t].front();
    kept[t] = kept[t].subspan(1);
    if (!kept[t].empty()) next.push(t);
    return &first;
  };
  for (std::uint64_t n = 0; n < ctx.job.options.top && !next.empty(); ++n) {
    const record_in_memory* const one = take();
    std::uint64_t count = one->count;
    while (once && !next.empty() && compare_keys(ctx.layout, *one, kept[next.top()].front()) == 0) {
      count += take()->count;
    }
    to.write(*one, count);
  }
}

}  // namespace

bool select_top(const context& ctx, const os::file& out, outcome& o) {
  const unsigned threads = ctx.plan.selection_threads;
  const std::uint64_t room = ctx.plan.merge_buffer_bytes / threads;
  record_blocks blocks(ctx, kThreadScratchBytes,
                       std::min<std::uint64_t>(room / 8, kLongRecord / 2));
  std::deque<candidates> kept;
  for (unsigned t = 0; t < threads; ++t) {
    if (!ctx.job.keep(kept.emplace_back(ctx.layout, ctx.job.options, room).reserve())) return true;
  }
  base::atomic<std::uint64_t> records{0};
  base::atomic<bool> overflowed{false};
  std::vector<std::span<const record_in_memory>> sorted(threads);
  {
    const stage_timer timer(ctx.job, sort_stage::run_read);
    ctx.job.readers.run(threads, [&](unsigned t) {
      std::vector<std::byte> block_room;
      while (!overflowed.load_relaxed()) {
        const record_blocks::block b = blocks.next(block_room);
        if (b.bytes.empty()) return;
        records.fetch_add_relaxed(
            each_record(ctx, b, [&](const record_in_memory& r) { kept[t].offer(r); }));
        if (kept[t].overflowed()) overflowed.store_release(true);
      }
    });
  }
  if (ctx.job.stopped()) return true;
  if (overflowed.load_relaxed() || !blocks.read_all()) return false;
  {
    const stage_timer timer(ctx.job, sort_stage::run_sort);
    ctx.job.readers.run(threads, [&](unsigned t) { sorted[t] = kept[t].sorted(); });
  }
  const stage_timer timer(ctx.job, sort_stage::run_write);
  writer to(ctx, out);
  merge(ctx, std::move(sorted), to);
  to.finish(o);
  o.records = records.load_relaxed();
  o.instead = "selection";
  return true;
}

}  // namespace isotherm::sort
