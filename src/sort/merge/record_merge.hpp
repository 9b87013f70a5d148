// Merging runs of records: a loser tree over the windows of the runs, whose matches offset-value
// codes decide.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "os/files/file.hpp"
#include "sort/merge/record_order.hpp"
#include "sort/merge/record_writer.hpp"
#include "sort/merge/run_window.hpp"
#include "sort/runs/loser_tree.hpp"

namespace isotherm::sort {

/// A run being merged: its next record, and that record's code against the one before.
template <class Format>
class record_cursor {
 public:
  record_cursor(const context& ctx, const Format& format, const record_run& run,
                std::span<std::byte> memory, after_reading space, read_ahead* ahead)
      : job_(ctx.job),
        file_(run.place->file),
        format_(format),
        window_(ctx, run, memory, kept(format), space, ahead) {}
  /// Bytes that its window keeps: a record, and a part of the next.
  static std::size_t kept(const Format& format) noexcept { return 2 * format.longest(); }

  const run_record& head() const noexcept { return head_; }
  /// Moves to the next record; kBehindAll behind the last or after an error, which becomes the
  /// job's.
  order_code advance(record_order& order) {
    const run_record before = head_;
    if (format_.find(rest_.subspan(head_.frame.size()), head_)) [[likely]] {
      rest_ = rest_.subspan(before.frame.size());
      return before.frame.empty() ? order.first(head_) : order.against(before, head_);
    }
    return advance_window(before, order);
  }

 private:
  order_code advance_window(run_record before, record_order& order) {
    const std::size_t size = before.frame.size();
    rest_ = window_.more(rest_.data());
    if (job_.stopped()) return kBehindAll;
    if (size > 0) format_.find(rest_, before);
    rest_ = rest_.subspan(size);
    if (format_.find(rest_, head_))
      return size == 0 ? order.first(head_) : order.against(before, head_);
    if (!rest_.empty()) job_.fail(damage_of(file_));
    return kBehindAll;
  }

  job& job_;
  const os::file& file_;
  const Format& format_;
  run_window window_;
  std::span<const std::byte> rest_;  // from the head on
  run_record head_;
};

/// Merges `some` runs by way of `memory`, of which fan_in_of() tells how many it takes. Calls
/// `take(record, same)` for each record in order until it returns false: `same` says that its key
/// is that of the record before. Records with equal keys come in the order of `some`.
template <class Format, class Take>
void merge_records(const context& ctx, const Format& format, std::span<const record_run> some,
                   std::span<std::byte> memory, overlap how, after_reading space,
                   const Take& take) {
  using cursor = record_cursor<Format>;
  constexpr std::size_t kStep = 1 << 14;  // records between two checks whether the sort was stopped
  const std::size_t share = memory.size() / some.size();
  const bool ahead = how == overlap::beside &&
                     share >= run_window::bytes_for(cursor::kept(format), reading::ahead);
  record_order order(ctx);
  std::deque<cursor> cursors;  // do not move
  std::vector<order_code> codes;
  codes.reserve(some.size());
  read_ahead reader(ctx);
  for (std::size_t i = 0; i < some.size(); ++i) {
    cursors.emplace_back(ctx, format, some[i], memory.subspan(i * share, share), space,
                         ahead ? &reader : nullptr);
  }
  const stage_timer timer(ctx.job, sort_stage::merge_other);
  for (cursor& c : cursors) codes.push_back(c.advance(order));
  loser_tree tree(cursors.size(), [&](std::size_t a, std::size_t b) {
    if (codes[a] != codes[b]) return codes[a] < codes[b];
    if (codes[a] == kBehindAll) return false;
    const auto [o, of_last] = order.compare(cursors[a].head(), cursors[b].head(), codes[a]);
    const bool first = o != 0 ? o < 0 : a < b;
    codes[first ? b : a] = of_last;
    return first;
  });
  for (std::size_t n = 0; codes[tree.winner()] != kBehindAll; ++n) {
    cursor& c = cursors[tree.winner()];
    order_code& code = codes[tree.winner()];
    if ((n % kStep == 0 && ctx.job.stopped()) || !take(c.head(), code == kSame)) {
      return;
    }
    code = c.advance(order);
    tree.replay();
  }
}

/// How many runs one merge by way of `memory` takes, for merge_records().
template <class Format>
std::size_t fan_in_of(const context& ctx, const Format& format, std::span<std::byte> memory) {
  const std::size_t kept = record_cursor<Format>::kept(format);
  const reading how =
      overlap_with_runs(ctx) == overlap::beside ? reading::ahead : reading::when_asked;
  return std::max<std::size_t>(2, memory.size() / run_window::bytes_for(kept, how));
}

/// The least memory of a merge.
template <class Format>
std::uint64_t least_merge_bytes(const Format& format) {
  return 2 * run_window::bytes_for(record_cursor<Format>::kept(format), reading::when_asked);
}

/// Runs of records, in the order of the input.
struct run_files {
  explicit run_files(const context& ctx) : places(ctx) {}
  run_places places;
  std::vector<record_run> runs;
  std::uint64_t written = 0;  ///< runs, merged ones included

  /// Says that a run of `bytes` was written to `at`, which takes the next behind it.
  record_run add(run_place& at, std::uint64_t bytes) {
    const record_run made{&at, at.end, bytes};
    at.end += bytes;
    at.written += bytes;
    ++written;
    return made;
  }
};

/// Merges neighbours among the runs, by `merge(to, some)`, until one merge can take all.
void reduce_runs(const context& ctx, run_files& all, std::size_t fan_in,
                 const std::function<void(record_writer&, std::span<const record_run>)>& merge);

}  // namespace isotherm::sort
