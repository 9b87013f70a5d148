#include "sort/cost/cost.hpp"

#include <algorithm>
#include <span>

namespace isotherm::sort {
namespace {

using device::access;

constexpr std::uint64_t kLargeAccess = 1 << 20;
constexpr double kLengthField = 4;  // of klv

double bandwidth_of(const key_load& l, const device::model& d) {
  const bool scan = l.kind == access::sequential_read;
  return d.bandwidth(l.kind, l.streams, scan ? kLargeAccess : static_cast<std::uint64_t>(l.bytes),
                     0, l.stride);
}

}  // namespace

/// Returns how keys are read. A klv record or a line is found only by the one before it: one thread
/// goes through them, and for lines it reads the whole input.
key_load load_of(const plan& p, const sort_options& o, double record_bytes) {
  const auto stride = static_cast<std::uint64_t>(record_bytes);
  const auto key = static_cast<double>(o.key_bytes);
  if (o.format == record_format::lines) return {access::sequential_read, 1, record_bytes};
  if (o.format == record_format::klv) return {access::strided_read, 1, key + kLengthField, stride};
  if (p.sequential_load || p.way.record_runs) {
    return {access::sequential_read, p.read_threads, record_bytes};
  }
  return {access::strided_read, p.strided_threads, key, stride};
}

runs_cost cost_of_runs(const plan& p, const device::model* main, double bytes) {
  const run_directory input{.path = "", .numbers = main, .use = main_use(p, nullptr)};
  const std::span<const run_directory> all =
      p.runs.empty() ? std::span(&input, 1) : std::span(p.runs);
  runs_cost c;
  for (const run_directory& d : all) {
    const bool last = &d == &all.back();
    const double taken = last ? bytes : std::min(bytes, static_cast<double>(d.free_bytes));
    if (taken <= 0) continue;
    const run_seconds s = seconds_of_runs(d, taken);
    c.seconds.write += s.write;
    c.seconds.read += s.read;
    c.places.push_back(place_of(d, static_cast<std::uint64_t>(taken)));
    bytes -= taken;
  }
  return c;
}

void cost::sequential(double bytes, unsigned writers) {
  add(bytes, device_.bandwidth(access::sequential_read, plan_.read_threads, kLargeAccess, writers));
}

void cost::keys(const key_load& l, double records) {
  add(records * l.bytes, bandwidth_of(l, device_));
}

void cost::random(double bytes, double each, unsigned writers) {
  if (bytes <= 0) return;
  const double bandwidth = device_.bandwidth(access::random_read, plan_.random_threads,
                                             static_cast<std::uint64_t>(each), writers);
  const double called = bytes / each * call_ns_ * 1e-9 / plan_.sort_threads;
  total_ += std::max(called, bandwidth > 0 ? bytes / bandwidth : 0);
}

void cost::written(double bytes) {
  add(bytes, device_.bandwidth(access::write, plan_.write_threads, kLargeAccess));
}

void cost::mixed(double read, double each, double written, unsigned threads) {
  for (unsigned n = 1; n <= threads; ++n) {
    if (read > 0) {
      add(read / threads,
          device_.bandwidth(access::random_read, n, static_cast<std::uint64_t>(each), threads - n));
    }
    add(written / threads, device_.bandwidth(access::write, n, kLargeAccess));
  }
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
