#include "sort/merge/record_runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "os/thread_pool.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kPrefetchAhead = 24;

}  // namespace

std::uint64_t record_runs::hold(std::uint64_t offset) {
  if (!planned()) return ctx_.input.size();
  const stage_timer timer(ctx_.job, sort_stage::run_read);
  const std::uint64_t n =
      std::min<std::uint64_t>(ctx_.plan.piece_bytes, ctx_.input.size() - offset);
  if (memory_.size() == 0) {
    auto memory = os::buffer::reserve(n);
    if (!ctx_.job.keep(memory)) return offset;
    memory_ = std::move(*memory);
  }
  ctx_.input.hold({}, 0);
  const std::span<std::byte> bytes(memory_.data(), n);
  pooled_read(ctx_, bytes, offset, sort_stage::run_read);
  if (!ctx_.job.stopped()) ctx_.input.hold(bytes, offset);
  return offset + n;
}

void record_runs::append(std::span<const entry> sorted) {
  const stage_timer timer(ctx_.job, sort_stage::run_write);
  const unsigned threads = ctx_.plan.write_threads;
  const auto dropped = [&](entry e) { return ctx_.layout.entries().dropped(e); };
  std::vector<std::uint64_t> bounds(threads + 1);  // of the threads' parts; none divides a group
  for (unsigned t = 0; t <= threads; ++t) {
    std::uint64_t& at = bounds[t] = os::part_of(sorted.size(), threads, t).first;
    if (t == threads) at = sorted.size();
    while (at < sorted.size() && dropped(sorted[at])) ++at;
  }
  std::vector<std::uint64_t> bytes(threads);
  ctx_.job.writers.run(threads, [&](unsigned t) {
    source_view view(ctx_.job, ctx_.input);
    for (std::uint64_t i = bounds[t]; i < bounds[t + 1]; ++i) {
      if (!dropped(sorted[i])) bytes[t] += format_.size_of(sorted[i], view);
    }
  });
  const std::uint64_t total = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  run_place* const place = all_.places.take(total);
  if (place == nullptr) return;
  std::vector<std::uint64_t> offsets(threads, place->end);
  for (unsigned t = 1; t < threads; ++t) offsets[t] = offsets[t - 1] + bytes[t - 1];
  ctx_.job.writers.run(threads, [&](unsigned t) {
    write_part(place->file, sorted.first(bounds[t + 1]), bounds[t], bounds[t + 1], offsets[t]);
  });
  all_.runs.push_back(all_.add(*place, total));
}

void record_runs::write_part(const os::file& to, std::span<const entry> sorted, std::uint64_t begin,
                             std::uint64_t end, std::uint64_t offset) {
  const entry_layout& l = ctx_.layout.entries();
  source_view view(ctx_.job, ctx_.input);
  std::vector<std::byte> buffer(kThreadScratchBytes);
  std::size_t filled = 0;
  const auto flush = [&] {
    const std::span<const std::byte> bytes(buffer.data(), filled);
    if (!ctx_.job.keep(to.write(bytes, offset))) return false;
    ctx_.job.count(sort_stage::run_write, 0, filled);
    offset += filled;
    filled = 0;
    return !ctx_.job.stopped();
  };
  for (std::uint64_t i = begin; i < end;) {
    if (i + kPrefetchAhead < end && !l.dropped(sorted[i + kPrefetchAhead])) {
      const extent x = ctx_.layout.locate(sorted[i + kPrefetchAhead], view);
      if (const std::byte* p = view.at_hand(x.offset, 1)) {
        __builtin_prefetch(p);
        __builtin_prefetch(p + std::min<std::uint64_t>(x.bytes - 1, 64));
      }
    }
    std::uint64_t behind = i + 1;
    while (behind < end && l.dropped(sorted[behind])) ++behind;
    const std::size_t n = format_.size_of(sorted[i], view);
    if (filled + n > buffer.size() && !flush()) return;
    format_.make(sorted[i], behind - i, &buffer[filled], view);
    filled += n;
    i = behind;
  }
  flush();
}

/// Merges `some` runs and calls `take(record)` for each record in order or, if keys are wanted once
/// or counted, for the first of each key with the sum of the counts; until `take` returns false.
template <class Take>
void record_runs::merge_groups(std::span<const record_run> some, overlap how, after_reading space,
                               const Take& take) {
  const bool counts = ctx_.job.options.count;
  const bool once = counts || ctx_.job.options.unique;
  std::vector<std::byte> frame;  // of the open group; only if counts
  std::uint64_t count = 0;
  const auto close = [&] {
    run_record r;
    format_.recount(frame, count);
    format_.find(frame, r);
    return take(r);
  };
  bool more = true;
  merge_records(ctx_, format_, some, {memory_.data(), memory_.size()}, how, space,
                [&](const run_record& r, bool same) {
                  if (!counts) return (once && same) || (more = take(r));
                  if (same) {
                    count += r.count;
                    return true;
                  }
                  if (!frame.empty()) more = close();
                  frame.assign(r.frame.begin(), r.frame.end());
                  count = r.count;
                  return more;
                });
  if (more && !frame.empty() && !ctx_.job.stopped()) close();
}

void record_runs::merge_frames(record_writer& to, std::span<const record_run> some) {
  merge_groups(some, overlap_of(ctx_), after_reading::give_back, [&](const run_record& r) {
    std::memcpy(to.place(r.frame.size()), r.frame.data(), r.frame.size());
    return true;
  });
}

/// Puts a part of the input, which may lack the end of its last line, into the output.
void record_runs::put_from_input(const extent& all, record_writer& to) {
  const std::uint64_t there = std::min(all.bytes, ctx_.input.size() - all.offset);
  const std::uint64_t step = ctx_.plan.output_buffer_bytes / 4;
  for (std::uint64_t at = 0; at < there && !ctx_.job.stopped(); at += step) {
    const std::uint64_t n = std::min(step, there - at);
    const stage_timer timer(ctx_.job, sort_stage::record_read, sort_stage::merge_other);
    if (!ctx_.job.keep(ctx_.input.handle().read({to.place(n), n}, all.offset + at))) return;
    ctx_.job.count(sort_stage::record_read, n, 0);
  }
  if (there < all.bytes) *to.place(1) = static_cast<std::byte>(ctx_.job.options.line_end);
}

/// Puts the text of the keys of a line into the output, where its key is made.
void record_runs::put_text(const run_record& r, record_writer& to) {
  std::span<const std::byte> line = r.bytes.first(r.bytes.size() - 1);
  source_view view(ctx_.job, ctx_.input);
  if (r.long_record.bytes != 0) {
    const std::uint64_t bytes = r.long_record.bytes - 1;
    const std::byte* const found = view.bytes(r.long_record.offset, bytes);
    if (found == nullptr) return;  // the sort has failed
    line = {found, bytes};
  }
  const made_key text = ctx_.layout.order().text(line);
  const std::uint64_t step = ctx_.plan.output_buffer_bytes / 4;
  for (std::uint64_t at = 0; at < text.size(); at += step) {
    const std::uint64_t n = std::min(step, text.size() - at);
    std::memcpy(to.place(n), &text[at], n);
  }
}

/// Puts the record, or the group, into the output.
void record_runs::put(const run_record& r, record_writer& to) {
  const bool text = ctx_.job.options.format == record_format::lines;
  const bool counts = ctx_.job.options.count;
  if (counts && text) {
    char head[24];
    const auto n = static_cast<std::size_t>(
        fmt::format_to(head, "{}{}", r.count, ctx_.layout.count_end()) - head);
    std::memcpy(to.place(n), head, n);
  }
  if (counts && text && ctx_.layout.order().made()) {
    put_text(r, to);
  } else if (r.long_record.bytes != 0) {
    put_from_input(counts ? r.long_key : r.long_record, to);
  } else {
    const std::span<const std::byte> bytes = counts ? r.key : r.bytes;
    std::memcpy(to.place(bytes.size()), bytes.data(), bytes.size());
  }
  if (counts && text) *to.place(1) = static_cast<std::byte>(ctx_.job.options.line_end);
  if (counts && !text) std::memcpy(to.place(sizeof r.count), &r.count, sizeof r.count);
}

void record_runs::merge_last(record_writer& to, outcome& o) {
  const std::uint64_t top = ctx_.job.options.top;
  merge_groups(all_.runs, overlap_with_runs(ctx_), after_reading::keep, [&](const run_record& r) {
    put(r, to);
    return ++o.records_written != top;
  });
}

void record_runs::merge(const os::file& out, outcome& o) {
  ctx_.input.hold({}, 0);
  memory_ = os::buffer();
  auto memory = os::buffer::reserve(ctx_.plan.merge_buffer_bytes);
  if (!ctx_.job.keep(memory)) return;
  memory_ = std::move(*memory);
  const std::size_t fan_in = fan_in_of(ctx_, format_, std::span(memory_.data(), memory_.size()));
  reduce_runs(ctx_, all_, fan_in,
              [&](record_writer& to, std::span<const record_run> some) { merge_frames(to, some); });
  record_writer to(ctx_, out, sort_stage::merge_write, sort_stage::merge_other,
                   ctx_.plan.output_header_bytes);
  if (ctx_.job.stopped() || !to.reserve()) return;
  if (!empty()) merge_last(to, o);
  to.finish();
  o.bytes_written = to.offset();
  o.runs.runs = all_.written;
  o.places = all_.places.report();
}

}  // namespace isotherm::sort
