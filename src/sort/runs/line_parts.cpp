#include "sort/runs/line_parts.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "os/thread_pool.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kWorthThreads = 1 << 20;  // bytes
constexpr std::size_t kLeastTarget = 1 << 14;     // entries
constexpr std::uint64_t kTextOfEntry = 256;       // bytes looked at for each entry, at most
constexpr std::size_t kAskLines = 4096;  // lines between two checks whether the sort was stopped

/// Text in memory, and where it lies in the input.
struct text {
  const std::byte* first;
  std::uint64_t offset;
  std::uint64_t bytes;
};

/// One thread's lines.
struct line_part {
  std::uint64_t begin = 0;  // of its lines in the text
  std::uint64_t end = 0;
  std::span<entry> target{};
  std::size_t made = 0;
  std::uint64_t done = 0;              // end of the last line with an entry
  std::vector<extent> long_records{};  // whose lengths are to be noted
};

/// Cuts the whole lines of `all` into parts, each with an even share of `target`.
std::vector<line_part> cut(const text& all, char line_end, std::span<entry> target,
                           unsigned threads) {
  const auto* const last = static_cast<const std::byte*>(memrchr(all.first, line_end, all.bytes));
  const std::uint64_t end = last == nullptr ? 0 : static_cast<std::uint64_t>(last + 1 - all.first);
  std::vector<line_part> parts(threads);
  for (unsigned t = 0; t < threads; ++t) {
    const std::uint64_t at =
        std::max(t == 0 ? 0 : parts[t - 1].begin, os::part_of(end, threads, t).first);
    const void* const found =
        t == 0 || at == end ? nullptr : std::memchr(all.first + at, line_end, end - at);
    parts[t].begin = t == 0 ? 0 : end;
    if (found != nullptr) {
      parts[t].begin =
          static_cast<std::uint64_t>(static_cast<const std::byte*>(found) + 1 - all.first);
    }
    if (t > 0) parts[t - 1].end = parts[t].begin;
    const auto [from, to] = os::part_of(target.size(), threads, t);
    parts[t].target = target.subspan(from, to - from);
  }
  parts.back().end = end;
  return parts;
}

/// Makes the entries of a part, as many as it has room for.
void make_entries(const context& ctx, const text& all, line_part& mine) {
  const char line_end = ctx.job.options.line_end;
  mine.done = mine.begin;
  while (mine.done < mine.end && mine.made < mine.target.size()) {
    if (mine.made % kAskLines == 0 && ctx.job.stopped()) return;
    const std::byte* const line = all.first + mine.done;
    const auto* const found =
        static_cast<const std::byte*>(std::memchr(line, line_end, mine.end - mine.done));
    if (found == nullptr) return;  // another process has changed a mapped input
    const auto bytes = static_cast<std::uint64_t>(found + 1 - line);
    const std::uint64_t offset = all.offset + mine.done;
    if (bytes >= kLongRecord) mine.long_records.push_back({offset, bytes});
    mine.target[mine.made++] = ctx.layout.variable_entry(line, offset, bytes);
    mine.done += bytes;
  }
}

}  // namespace

std::size_t load_lines_by_all(const context& ctx, std::span<entry> target, std::uint64_t& at,
                              std::uint64_t until) {
  const unsigned threads = ctx.plan.sort_threads;
  // A few entries are no reason to look for lines in all that is left.
  until = std::min<std::uint64_t>(until, at + target.size() * kTextOfEntry);
  if (threads == 1 || ctx.job.emulation != nullptr || target.size() < kLeastTarget ||
      until < at + kWorthThreads) {
    return 0;
  }
  // A thread cannot tell whether its part of CSV begins within quotes.
  if (ctx.job.options.csv) return 0;
  const text all{ctx.input.at_hand(at, until - at), at, until - at};
  if (all.first == nullptr) return 0;
  std::vector<line_part> parts = cut(all, ctx.job.options.line_end, target, threads);
  ctx.job.readers.run(threads, [&](unsigned t) { make_entries(ctx, all, parts[t]); });
  std::size_t made = 0;
  std::uint64_t done = 0;
  for (const line_part& each : parts) {
    for (const extent& line : each.long_records) ctx.input.note_length(line.offset, line.bytes);
    std::move(each.target.begin(), each.target.begin() + static_cast<std::ptrdiff_t>(each.made),
              target.begin() + static_cast<std::ptrdiff_t>(made));
    made += each.made;
    done = each.done;
    if (each.done < each.end) break;  // later lines would follow a gap
  }
  at += done;
  if (ctx.input.mapped() != nullptr) ctx.job.count(sort_stage::run_read, done, 0);
  ctx.job.progress(sort_stage::run_read, at, ctx.input.size());
  return ctx.job.stopped() ? 0 : made;
}

}  // namespace isotherm::sort
