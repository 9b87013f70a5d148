// What each algorithm moves and how its threads go about it, as seconds of a device.
#include <algorithm>
#include <cmath>

#include "sort/cost.hpp"

namespace isotherm::sort {
namespace {

using device::access;

constexpr std::uint64_t kLargeAccess = 1 << 20;
constexpr double kCountBytes = 8;   // of --count, behind a key
constexpr double kLengthField = 4;  // of klv

double levels(double runs, double fan_in) {
  return runs <= 1 ? 1 : std::max(1.0, std::ceil(std::log(runs) / std::log(std::max(2.0, fan_in))));
}

/// How the keys are read: by how many threads, and what each access asks for.
struct key_load {
  access kind = access::sequential_read;
  unsigned streams = 1;
  double bytes = 0;  // of each record
  std::uint64_t stride = 0;
};

/// Where a klv record or a line begins is known only from the one before it: a single thread goes
/// through them, and for lines reads all.
key_load load_of(const plan& p, const sort_options& o, double record_bytes) {
  const auto stride = static_cast<std::uint64_t>(record_bytes);
  const auto key = static_cast<double>(o.key_bytes);
  if (o.format == record_format::lines) return {access::sequential_read, 1, record_bytes};
  if (o.format == record_format::klv) return {access::strided_read, 1, key + kLengthField, stride};
  if (p.sequential_load || p.algorithm == sort_algorithm::ems) {
    return {access::sequential_read, p.read_threads, record_bytes};
  }
  return {access::strided_read, p.strided_threads, key, stride};
}

double bandwidth_of(const key_load& l, const device::model& d) {
  const bool scan = l.kind == access::sequential_read;
  return d.bandwidth(l.kind, l.streams, scan ? kLargeAccess : static_cast<std::uint64_t>(l.bytes),
                     0, l.stride);
}

/// What is written, and what is read for it alone.
struct results {
  double written_bytes = 0;
  double read_bytes = 0;
  double each = 0;  // of what is read
};

/// All keys are taken for different: how many are not is known only to the sort.
results results_of(const sort_options& o, double records, double record_bytes) {
  const double n = o.top != 0 ? std::min(records, static_cast<double>(o.top)) : records;
  if (!o.count) return {n * record_bytes, n * record_bytes, record_bytes};
  const bool text = o.format == record_format::lines;
  const double key = text ? record_bytes : static_cast<double>(o.key_bytes);
  const bool held = !text && o.key_bytes <= record_layout(o).entries().key_bytes;
  return {n * (key + kCountBytes), held ? 0 : n * key, key};
}

/// Sums up the seconds of one algorithm's moves.
class bill {
 public:
  bill(const device::model& d, const plan& p, const processor_speed& cpu)
      : device_(d), plan_(p), call_ns_(p.map_input ? 0 : cpu.call_ns) {}
  void sequential(double bytes, unsigned writers = 0) {
    add(bytes,
        device_.bandwidth(access::sequential_read, plan_.read_threads, kLargeAccess, writers));
  }
  void keys(const key_load& l, double records) { add(records * l.bytes, bandwidth_of(l, device_)); }
  /// Where the input is not mapped, each is a call, whose time an emulated device does not hide.
  void random(double bytes, double each, unsigned writers = 0) {
    if (bytes <= 0) return;
    const double bandwidth = device_.bandwidth(access::random_read, plan_.random_threads,
                                               static_cast<std::uint64_t>(each), writers);
    const double called = bytes / each * call_ns_ * 1e-9 / plan_.sort_threads;
    total_ += std::max(called, bandwidth > 0 ? bytes / bandwidth : 0);
  }
  void written(double bytes) {
    add(bytes, device_.bandwidth(access::write, plan_.write_threads, kLargeAccess));
  }
  /// By threads that each read at random, then write what they have read: of the ways in which they
  /// can be split between the two, each is taken to be as likely.
  void mixed(double read, double each, double written, unsigned threads) {
    for (unsigned n = 1; n <= threads; ++n) {
      if (read > 0) {
        add(read / threads, device_.bandwidth(access::random_read, n,
                                              static_cast<std::uint64_t>(each), threads - n));
      }
      add(written / threads, device_.bandwidth(access::write, n, kLargeAccess));
    }
  }
  void processor(double seconds) { total_ += seconds; }
  double total() const noexcept { return total_; }

 private:
  void add(double bytes, double bandwidth) { total_ += bandwidth > 0 ? bytes / bandwidth : 0; }
  const device::model& device_;
  const plan& plan_;
  const double call_ns_;
  double total_ = 0;
};

/// The values, gathered and written as the concurrency model has it. Overlapping reads and writes
/// share the device's time: what overlap saves is the processor's, what it costs is that reads are
/// hindered, all but the first buffer's.
void bill_values(bill& b, const plan& p, const results& r, double input_bytes) {
  const bool overlaps = p.concurrency == sort_concurrency::io_overlap;
  const auto buffer = static_cast<double>(p.output_buffer_bytes);
  if (p.scan_gather) {
    const double scans = std::ceil(r.written_bytes / buffer);
    b.sequential(input_bytes);
    b.sequential((scans - 1) * input_bytes, overlaps ? p.write_threads : 0);
    b.written(r.written_bytes);
  } else if (p.concurrency == sort_concurrency::no_sync && r.read_bytes > 0) {
    b.mixed(r.read_bytes, r.each, r.written_bytes, std::max(p.random_threads, p.write_threads));
  } else {
    const double first = std::min(r.read_bytes, buffer);
    b.random(first, r.each);
    b.random(r.read_bytes - first, r.each, overlaps ? p.write_threads : 0);
    b.written(r.written_bytes);
  }
}

void bill_index_sort(bill& b, const plan& p, const sort_options& o, const input_facts& in,
                     const processor_speed& cpu) {
  const double bytes = static_cast<double>(in.bytes);
  const double records = bytes / in.record_bytes;
  const double threads = p.sort_threads;
  b.processor(records * cpu.sort_ns * 1e-9 / threads);
  b.keys(load_of(p, o, in.record_bytes), records);
  if (const run_forecast f = forecast_runs(p, o, in, cpu); f.runs > 0) {
    const double entries = records * f.entry_passes;
    b.written(entries * (f.compressed ? f.coded_bytes : f.plain_bytes));
    b.sequential(entries * (f.compressed ? f.coded_bytes : f.plain_bytes));
    b.processor(entries * (cpu.merge_entry_ns + (f.compressed ? f.balance.spent_ns : 0)) * 1e-9);
  }
  if (p.scan_gather) b.processor(records * cpu.sort_ns * 1e-9 / threads);
  bill_values(b, p, results_of(o, records, in.record_bytes), bytes);
}

/// Reads of a merge meet the writes of what it has merged, where these overlap; those of the runs
/// do not, but for the last buffer of each.
void bill_merge_sort(bill& b, const plan& p, const input_facts& in, const processor_speed& cpu) {
  const double bytes = static_cast<double>(in.bytes);
  const double records = bytes / in.record_bytes;
  const double memory = static_cast<double>(p.merge_buffer_bytes - p.output_buffer_bytes);
  const double runs = std::ceil(bytes * (1 + sizeof(entry) / in.record_bytes) / memory);
  const double passes = levels(runs, memory / (64 << 10));
  const bool overlaps = p.concurrency == sort_concurrency::io_overlap;
  b.sequential(bytes);
  b.sequential(passes * bytes, overlaps ? p.write_threads : 0);
  b.written((1 + passes) * bytes);
  const double copied = (cpu.sort_ns + cpu.merge_record_ns) / p.sort_threads;
  b.processor(records * (copied + passes * cpu.merge_record_ns) * 1e-9);
}

}  // namespace

double predict(const plan& p, const sort_options& o, const input_facts& in, const device::model& d,
               const processor_speed& cpu) {
  bill b(d, p, cpu);
  if (p.algorithm == sort_algorithm::ems) {
    bill_merge_sort(b, p, in, cpu);
  } else if (p.algorithm == sort_algorithm::samplesort) {
    const double bytes = static_cast<double>(in.bytes);
    const double records = bytes / in.record_bytes;
    // The copy, then one read and one write of everything at each level.
    const auto passes = static_cast<double>(samplesort_levels(static_cast<std::uint64_t>(records)));
    b.sequential(bytes);
    b.written(bytes);
    b.mixed(bytes * passes, in.record_bytes, bytes * passes, samplesort_threads(p));
    b.processor(records * passes * cpu.merge_record_ns * 1e-9 / p.sort_threads);
  } else {
    bill_index_sort(b, p, o, in, cpu);
  }
  return b.total();
}

double device_share(const stage_report& s, const plan& p, const sort_options& o,
                    const device::model& d, double record_bytes) {
  if (s.seconds <= 0) return 0;
  const double bytes = static_cast<double>(s.bytes_read + s.bytes_written);
  double limit = 0;
  switch (s.stage) {
    case sort_stage::run_read:
      limit = bandwidth_of(load_of(p, o, record_bytes), d);
      break;
    case sort_stage::record_read:
      limit = p.scan_gather ? d.bandwidth(access::sequential_read, p.read_threads, kLargeAccess)
                            : d.bandwidth(access::random_read, p.random_threads,
                                          static_cast<std::uint64_t>(record_bytes));
      break;
    case sort_stage::merge_read:
      limit = d.bandwidth(access::sequential_read, p.read_threads, kLargeAccess);
      break;
    case sort_stage::run_write:
    case sort_stage::merge_write:
      limit = d.bandwidth(access::write, p.write_threads, kLargeAccess);
      break;
    default:
      return 0;
  }
  return limit > 0 ? bytes / s.seconds / limit : 0;
}

}  // namespace isotherm::sort
