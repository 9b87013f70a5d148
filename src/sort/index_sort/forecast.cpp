#include "sort/index_sort/forecast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>

#include "sort/input/records.hpp"

namespace isotherm::sort {
namespace {

constexpr double kCountBytes = 8;  // of a count, behind its key

/// How often each entry is written and read on average, for runs of equal size. Merges take the
/// smallest runs first, and only as many as the last merge cannot take.
double entry_passes(double runs, std::size_t fan_in) {
  std::deque<double> sizes(static_cast<std::size_t>(std::min(runs, 1e6)), 1.0);
  double moved = static_cast<double>(sizes.size());
  while (sizes.size() > fan_in) {
    const std::size_t n = std::min(fan_in, sizes.size() - fan_in + 1);
    const double merged = std::accumulate(sizes.begin(), sizes.begin() + static_cast<long>(n), 0.0);
    sizes.erase(sizes.begin(), sizes.begin() + static_cast<long>(n));
    sizes.push_back(merged);
    moved += merged;
  }
  return moved / std::max(1.0, std::min(runs, 1e6));
}

/// The text of --explain about runs; empty if there are none.
std::string words_for(const run_forecast& f, double records) {
  if (f.runs == 0) return "";
  const double entries = records * f.entry_passes * 1e-9;
  return fmt::format(
      "runs {}: {:.1f} instead of {:.0f} bytes an entry would save {:.3f} s of the device for "
      "{:.3f} s of the processor",
      f.compressed ? "compressed" : "not compressed", f.coded_bytes, f.plain_bytes,
      f.balance.saved_ns * entries, f.balance.spent_ns * entries);
}

/// Bytes that are written, and bytes that are read only for that.
struct results {
  double written_bytes = 0;
  double read_bytes = 0;
  double each = 0;  // size of each read
};

/// Takes all keys to be different: how many are not is known only after the sort.
results results_of(const sort_options& o, double records, double record_bytes) {
  const double n = o.top != 0 ? std::min(records, static_cast<double>(o.top)) : records;
  if (!o.count) return {n * record_bytes, n * record_bytes, record_bytes};
  const bool text = o.format == record_format::lines;
  const double key = text ? record_bytes : static_cast<double>(o.key_bytes);
  const bool held = !text && o.key_bytes <= record_layout(o).entries().key_bytes;
  return {n * (key + kCountBytes), held ? 0 : n * key, key};
}

/// Adds the time to gather the values and to write them, by the concurrency model. Reads and writes
/// that overlap share the device's time: overlap saves only time of the processor, and hinders all
/// reads but those for the first buffer.
void add_values(cost& sum, const plan& p, const results& r, double input_bytes) {
  const bool overlaps = p.concurrency == sort_concurrency::io_overlap;
  const auto buffer = static_cast<double>(p.output_buffer_bytes);
  if (p.scan_gather) {
    const double scans = std::ceil(r.written_bytes / buffer);
    sum.sequential(input_bytes);
    sum.sequential((scans - 1) * input_bytes, overlaps ? p.write_threads : 0);
    sum.written(r.written_bytes);
  } else if (p.concurrency == sort_concurrency::no_sync && r.read_bytes > 0) {
    sum.mixed(r.read_bytes, r.each, r.written_bytes, std::max(p.random_threads, p.write_threads));
  } else {
    const double first = std::min(r.read_bytes, buffer);
    sum.random(first, r.each);
    sum.random(r.read_bytes - first, r.each, overlaps ? p.write_threads : 0);
    sum.written(r.written_bytes);
  }
}

}  // namespace

run_forecast forecast_runs(const plan& p, const sort_options& o, const facts& known) {
  const coding_cost& coding = known.processor.coding;
  const double records = static_cast<double>(known.input.bytes) / known.input.record_bytes;
  const auto in_memory = static_cast<double>(p.index_entries);
  run_forecast f;
  if (!p.way.must_merge && records <= in_memory) return f;
  f.runs = std::max(1.0, std::ceil(records / in_memory));
  f.entry_passes = entry_passes(f.runs, merge_fan_in(p.merge_buffer_bytes));
  f.plain_bytes = record_layout(o).entries().packed_bytes();
  f.coded_bytes = coding.bytes;
  f.balance = balance_of(f.plain_bytes, coding, p.run_device, p.write_threads);
  f.compressed = p.compression == sort_compression::on ||
                 (p.compression == sort_compression::automatic && f.balance.pays());
  return f;
}

prediction predict_index_sort(const plan& p, const sort_options& o, const facts& known) {
  const input_facts& in = known.input;
  const processor_speed& cpu = known.processor;
  cost sum(*known.device, p, cpu);
  const double bytes = static_cast<double>(in.bytes);
  const double records = bytes / in.record_bytes;
  const double threads = p.sort_threads;
  sum.seconds(records * cpu.sort_ns * 1e-9 / threads);
  sum.keys(load_of(p, o, in.record_bytes), records);
  const run_forecast f = forecast_runs(p, o, known);
  runs_cost runs;
  if (f.runs > 0) {
    runs = cost_of_runs(p, known.device, records * (f.compressed ? f.coded_bytes : f.plain_bytes));
    const double merge =
        records * (cpu.merge_entry_ns + (f.compressed ? f.balance.spent_ns : 0)) * 1e-9;
    sum.seconds(f.entry_passes * (runs.seconds.write + runs.seconds.read + merge));
  }
  if (p.scan_gather) sum.seconds(records * cpu.sort_ns * 1e-9 / threads);
  add_values(sum, p, results_of(o, records, in.record_bytes), bytes);
  return {sum.total(), words_for(f, records), std::move(runs.places)};
}

}  // namespace isotherm::sort
