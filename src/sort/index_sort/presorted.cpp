#include "sort/index_sort/presorted.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/random.hpp"
#include "device/stream.hpp"
#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/output/copy.hpp"
#include "sort/runs/loader.hpp"
#include "sort/runs/runs.hpp"

namespace isotherm::sort {
namespace {

enum class input_order { none, sorted, reversed };

/// Negative if the record of key `i` goes before the next one, 0 if their keys are equal.
int order_of(const key_row& keys, std::uint64_t i, const record_layout& l) {
  const std::byte* key = keys.first + i * keys.stride;
  return l.compare_fixed(key, key + keys.stride);
}

input_order guess(const context& ctx, std::uint64_t records) {
  constexpr int kSamples = 64;
  source_view view(ctx.job, ctx.input);
  std::vector<std::byte> room;
  base::random random(records);
  int rising = 0;
  for (int i = 0; i < kSamples; ++i) {
    const key_row pair = read_keys(view, ctx.layout, key_reading_of(ctx.layout.record_bytes()),
                                   random.below(records - 1), 2, room);
    if (pair.first == nullptr) return input_order::none;
    rising += order_of(pair, 0, ctx.layout) <= 0;
    if (rising != 0 && rising != i + 1) return input_order::none;
  }
  return rising == 0 ? input_order::reversed : input_order::sorted;
}

input_order find_order(const context& ctx) {
  const std::uint64_t record = ctx.layout.record_bytes();
  const std::uint64_t records = ctx.input.size() / record;
  if (records < 2) return input_order::sorted;
  const stage_timer timer(ctx.job, sort_stage::run_read);
  const input_order guessed = guess(ctx, records);
  if (guessed == input_order::none) return guessed;
  base::atomic<bool> holds{true};
  base::atomic<std::uint64_t> done{0};
  const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record);
  const device::stream_group group(ctx.job.emulation, device::access::strided_read,
                                   ctx.plan.strided_threads);
  ctx.job.readers.run(ctx.plan.strided_threads, [&](unsigned t) {
    source_view view(ctx.job, ctx.input);
    std::vector<std::byte> room;
    device::stream stream(group);
    const auto [begin, end] = os::part_of(records - 1, ctx.plan.strided_threads, t);
    std::uint64_t counted = 0;
    // Each piece reads the first record of the next one as well.
    for (std::uint64_t at = begin; at < end; at += step) {
      if (ctx.job.stopped() || !holds.load_relaxed()) return;
      const std::uint64_t n = std::min(step, end - at);
      const key_row keys = read_keys(view, ctx.layout, key_reading_of(record), at, n + 1, room);
      if (keys.first == nullptr) return;
      for (std::uint64_t i = 0; i < n; ++i) {
        const int order = order_of(keys, i, ctx.layout);
        if (guessed == input_order::sorted ? order > 0 : order <= 0) {
          holds.store_relaxed(false);
          return;
        }
      }
      stream.touched(n, ctx.layout.key_bytes(), record);
      const bool calls = ctx.job.emulation == nullptr && ctx.input.mapped() == nullptr;
      ctx.job.count(sort_stage::run_read,
                    calls ? view.fetched() - counted : n * ctx.layout.key_bytes(), 0);
      counted = view.fetched();
      ctx.job.progress(sort_stage::run_read, done.fetch_add_relaxed(n * record) + n * record,
                       ctx.input.size());
    }
  });
  return holds.load_relaxed() && !ctx.job.stopped() ? guessed : input_order::none;
}

/// Writes the input's records from the last to the first.
void copy_reversed(const context& ctx, const os::file& out) {
  const stage_timer timer(ctx.job, sort_stage::copy);
  auto buffer = os::buffer::reserve(ctx.plan.output_buffer_bytes);
  if (!ctx.job.keep(buffer)) return;
  const std::uint64_t record = ctx.layout.record_bytes();
  const std::uint64_t records = ctx.input.size() / record;
  const std::uint64_t capacity = buffer->size() / record;
  const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record);
  for (std::uint64_t done = 0; done < records && !ctx.job.stopped(); done += capacity) {
    const std::uint64_t n = std::min(capacity, records - done);
    std::optional<device::stream_group> group(
        std::in_place, ctx.job.emulation, device::access::sequential_read, ctx.plan.read_threads);
    ctx.job.readers.run(ctx.plan.read_threads, [&](unsigned t) {
      source_view view(ctx.job, ctx.input);
      device::stream stream(*group);
      const auto [begin, end] = os::part_of(n, ctx.plan.read_threads, t);
      for (std::uint64_t at = begin; at < end && !ctx.job.stopped(); at += step) {
        const std::uint64_t m = std::min(step, end - at);
        // Output records [done + at, done + at + m) are these records in reverse order.
        const std::byte* bytes = view.bytes((records - done - at - m) * record, m * record);
        if (bytes == nullptr) return;
        for (std::uint64_t i = 0; i < m; ++i) {
          std::memcpy(buffer->data() + (at + i) * record, bytes + (m - 1 - i) * record, record);
        }
        stream.touched(1, m * record);
        ctx.job.count(sort_stage::copy, m * record, 0);
      }
    });
    group.reset();  // nothing is read while this is written
    pooled_write(ctx, out, {buffer->data(), n * record}, done * record, sort_stage::copy);
    ctx.job.progress(sort_stage::copy, (done + n) * record, ctx.input.size());
  }
}

}  // namespace

bool copy_presorted(const context& ctx, const os::file& out, outcome& o) {
  const input_order order = find_order(ctx);
  if (order == input_order::sorted) copy_input(ctx, out);
  if (order == input_order::reversed) copy_reversed(ctx, out);
  if (order == input_order::none) return false;
  o.instead = order == input_order::sorted ? kCopied : kCopiedBackwards;
  o.records = o.records_written = ctx.input.size() / ctx.layout.record_bytes();
  o.bytes_written = ctx.input.size();
  return true;
}

}  // namespace isotherm::sort
