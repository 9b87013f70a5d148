#include "sort/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "os/files/file.hpp"
#include "sort/checksum.hpp"
#include "sort/output/count.hpp"
#include "sort/runs/loader.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kLongestCount = 20;  // digits
constexpr std::uint64_t kPiece = 1 << 20;

/// Checksum of one record, computed piece by piece. A last line without its newline is summed as if
/// it had one.
uint128 sum_of(const extent& record, source_view& view, char line_end) {
  uint128 sum = 0;
  for (std::uint64_t at = 0; at < record.bytes; at += kPiece) {
    const std::uint64_t bytes = std::min(kPiece, record.bytes - at);
    const std::uint64_t there = std::min(bytes, view.size() - (record.offset + at));
    const std::byte* data = view.bytes(record.offset + at, there);
    if (data == nullptr) return 0;
    if (there == bytes) {
      sum = sum * 31 + record_checksum({data, bytes}, bytes);
    } else {
      std::vector<std::byte> whole(data, data + there);
      whole.push_back(std::byte(line_end));
      sum = sum * 31 + record_checksum(whole, whole.size());
    }
  }
  return sum;
}

/// Number of records of `s` and the sum of their checksums; with `ordered`, fails the job at the
/// first record that is out of order or, under --unique, has the key of the one before.
std::pair<std::uint64_t, uint128> sum_up(const context& ctx, bool ordered) {
  loader load(ctx);
  std::vector<entry> entries(16384);
  source_view view(ctx.job, ctx.input);
  source_view other(ctx.job, ctx.input);
  uint128 sum = 0;
  std::uint64_t records = 0;
  entry last = 0;
  while (!load.at_end() && !ctx.job.stopped()) {
    const std::size_t n = load.load(entries);
    for (std::size_t i = 0; i < n && !ctx.job.stopped(); ++i, ++records) {
      if (ordered && records > 0 &&
          (ctx.layout.compare(last, entries[i], other) > 0 ||
           (ctx.job.options.unique && ctx.layout.same_key(last, entries[i], other)))) {
        ctx.job.fail({fmt::format("check: record {} of the output is out of order", records), 0});
      }
      last = entries[i];
      sum += sum_of(ctx.layout.locate(last, view), view, ctx.job.options.line_end);
    }
  }
  return {records, sum};
}

/// Returns whether what --count writes shows the order of keys: columns of CSV do, and one key of
/// lines; several keys of lines, and the rest of a row, do not.
bool shows_order(const sort_options& o) {
  const auto is_column = [](const sort_key& k) { return k.last_field != 0 || !k.column.empty(); };
  if (!o.csv) return o.keys.size() <= 1;
  return !o.keys.empty() && std::ranges::all_of(o.keys, is_column);
}

/// Sum of the counts that --count has written; fails the job where keys do not ascend.
std::uint64_t sum_counts(const context& ctx, const sort_options& counted) {
  loader load(ctx);
  std::vector<entry> entries(16384);
  source_view view(ctx.job, ctx.input);
  source_view other(ctx.job, ctx.input);
  const bool ordered = shows_order(counted);
  std::uint64_t sum = 0;
  std::uint64_t groups = 0;
  entry last = 0;
  while (!load.at_end() && !ctx.job.stopped()) {
    const std::size_t n = load.load(entries);
    for (std::size_t i = 0; i < n && !ctx.job.stopped(); ++i, ++groups) {
      if (ordered && groups > 0 &&
          (ctx.layout.compare(last, entries[i], other) > 0 ||
           ctx.layout.same_key(last, entries[i], other))) {
        ctx.job.fail({fmt::format("check: group {} of the output is out of order", groups), 0});
      }
      last = entries[i];
      const extent at = ctx.layout.locate(last, view);
      // A line begins with its count; in binary formats the count ends the record.
      const std::uint64_t most = ctx.layout.fixed() ? at.bytes : kLongestCount;
      const std::size_t bytes = std::min({most, at.bytes, ctx.input.size() - at.offset});
      const std::byte* group = view.bytes(at.offset, bytes);
      if (group != nullptr) sum += count_of(counted, {group, bytes});
    }
  }
  return sum;
}

void check_counts(const context& ctx, const os::file& out, const outcome& o) {
  job counts(options_of_counts(ctx.job.options), nullptr);
  auto again = out.again();
  if (!ctx.job.keep(again)) return;
  auto result = source::of(std::move(*again));
  if (!ctx.job.keep(result)) return;
  const record_layout layout(counts.options);
  plan p = ctx.plan;
  p.header_bytes = p.output_header_bytes;
  const std::uint64_t sum = sum_counts({counts, p, *result, layout}, ctx.job.options);
  if (!ctx.job.keep(counts.status()) || ctx.job.options.top != 0 || sum == o.records) return;
  ctx.job.fail(
      {fmt::format("check: the counts add up to {}, the input has {} records", sum, o.records), 0});
}

void compare_files(const context& ctx, const os::file& out, const outcome& o) {
  auto again = out.again();
  if (!ctx.job.keep(again)) return;
  auto result = source::of(std::move(*again));
  if (!ctx.job.keep(result)) return;
  const auto [records, sum] = sum_up(ctx.reading(*result), true);
  if (ctx.job.stopped()) return;
  if (records != o.records_written) {
    ctx.job.fail({fmt::format("check: the output has {} records, {} were written", records,
                              o.records_written),
                  0});
    return;
  }
  if (ctx.job.options.unique || ctx.job.options.top != 0) return;
  const auto [input_records, input_sum] = sum_up(ctx, false);
  if (ctx.job.stopped()) return;
  if (records != input_records || sum != input_sum) {
    ctx.job.fail({"check: the output does not hold the records of the input", 0});
  }
}

}  // namespace

void verify(const context& ctx, const os::file& out, const outcome& o) {
  const stage_timer timer(ctx.job, sort_stage::check);
  // A job of its own, so that its reads count neither as stages of the sort nor as accesses of the
  // emulated device.
  sort_options quiet = ctx.job.options;
  quiet.progress = nullptr;
  job checking(quiet, nullptr);
  const context again{checking, ctx.plan, ctx.input, ctx.layout};
  if (ctx.job.options.count) {
    check_counts(again, out, o);
  } else {
    compare_files(again, out, o);
  }
  ctx.job.keep(checking.status());
}

}  // namespace isotherm::sort
