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
#include "sort/keys/record_ends.hpp"
#include "sort/top/blocks.hpp"
#include "sort/top/candidates.hpp"

namespace isotherm::sort {
namespace {

/// Offers all fixed records of a block; returns how many there are.
std::uint64_t offer_fixed(const context& ctx, const record_blocks::block& b, candidates& to) {
  const std::uint64_t record = ctx.layout.record_bytes();
  const std::uint64_t first = b.offset / record;
  const std::uint64_t records = b.bytes.size() / record;
  candidate c{.bytes = static_cast<std::uint32_t>(record),
              .key_bytes = static_cast<std::uint32_t>(ctx.layout.key_bytes())};
  for (std::uint64_t i = 0; i < records; ++i) {
    c.first = b.bytes.data() + i * record;
    c.key_first = c.first + ctx.layout.key_offset();
    c.place = ctx.layout.fixed_entry(c.key_first, first + i);
    to.offer(c);
  }
  return records;
}

/// Returns the line at the front of `rest`, without its end.
bytes_view line_at(bytes_view rest, record_ends& ends) {
  const std::size_t n = ends.find(rest);
  return rest.first((n != 0 ? n : rest.size()) - 1);  // 0: the input has changed
}

std::uint64_t offer_lines(const context& ctx, const record_blocks::block& b, candidates& to) {
  const key_order& order = ctx.layout.order();
  record_ends ends(ctx.job.options);
  const std::byte* const end = b.bytes.data() + b.bytes.size();
  std::uint64_t records = 0;
  made_key made;
  candidate c;
  for (const std::byte* at = b.bytes.data(); at < end; at += c.bytes, ++records) {
    const bytes_view line = line_at({at, end}, ends);
    const part key = order.made() ? part{} : order.find(line);
    if (order.made()) order.make(line, made);
    c.first = at;
    c.bytes = static_cast<std::uint32_t>(line.size() + 1);
    c.key_first = order.made() ? made.data() : at + key.begin;
    c.key_bytes = static_cast<std::uint32_t>(order.made() ? made.size() : key.end - key.begin);
    const auto offset = b.offset + static_cast<std::uint64_t>(at - b.bytes.data());
    c.place = ctx.layout.line_entry(c.key_first, c.key_bytes, offset, c.bytes);
    to.offer(c);
  }
  return records;
}

std::uint64_t offer_klv(const context& ctx, const record_blocks::block& b, candidates& to) {
  const std::uint64_t key = ctx.layout.key_bytes();
  std::uint64_t records = 0;
  candidate c{.key_bytes = static_cast<std::uint32_t>(key)};
  for (std::uint64_t at = 0; at < b.bytes.size(); at += c.bytes, ++records) {
    c.first = c.key_first = &b.bytes[at];
    c.bytes = static_cast<std::uint32_t>(key + sizeof(std::uint32_t)) + klv_length(c.first + key);
    c.place = ctx.layout.variable_entry(c.first, b.offset + at, c.bytes);
    to.offer(c);
  }
  return records;
}

using offering = std::uint64_t (*)(const context&, const record_blocks::block&, candidates&);

offering offering_of(record_format format) {
  if (format == record_format::lines) return offer_lines;
  return format == record_format::klv ? offer_klv : offer_fixed;
}

/// Appends to the output: records, or groups as --count writes them.
class writer {
 public:
  writer(const context& ctx, const os::file& out)
      : ctx_(ctx), out_(out), written_(ctx.plan.output_header_bytes) {}

  void write(const candidate& c, std::uint64_t count) {
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
void merge(const context& ctx, std::vector<std::span<const candidate>> kept, writer& to) {
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
    const candidate& first = kept[t].front();
    kept[t] = kept[t].subspan(1);
    if (!kept[t].empty()) next.push(t);
    return &first;
  };
  for (std::uint64_t n = 0; n < ctx.job.options.top && !next.empty(); ++n) {
    const candidate* const one = take();
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
  record_blocks blocks(ctx, std::min<std::uint64_t>(room / 8, kLongRecord / 2));
  std::deque<candidates> kept;
  for (unsigned t = 0; t < threads; ++t) {
    if (!ctx.job.keep(kept.emplace_back(ctx.layout, ctx.job.options, room).reserve())) return true;
  }
  base::atomic<std::uint64_t> records{0};
  base::atomic<bool> overflowed{false};
  std::vector<std::span<const candidate>> sorted(threads);
  {
    const stage_timer timer(ctx.job, sort_stage::run_read);
    const offering offer = offering_of(ctx.job.options.format);
    ctx.job.readers.run(threads, [&](unsigned t) {
      std::vector<std::byte> block_room;
      while (!overflowed.load_relaxed()) {
        const record_blocks::block b = blocks.next(block_room);
        if (b.bytes.empty()) return;
        records.fetch_add_relaxed(offer(ctx, b, kept[t]));
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
