// The door to sorting: refuses what cannot end well before it begins, picks the algorithm, and
// leaves nothing behind when it fails.
#include <isotherm/sort.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "os/clock.hpp"
#include "sort/algorithms/wiscsort.hpp"
#include "sort/cost.hpp"
#include "sort/job.hpp"
#include "sort/plan.hpp"
#include "sort/verify.hpp"

namespace isotherm {
namespace {

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

base::result<void> check_options(const sort_options& o, std::uint64_t bytes) {
  if (o.format != record_format::lines && o.key_bytes == 0) {
    return refused("the key must have at least one byte");
  }
  if (o.format == record_format::fixed) {
    if (o.record_bytes == 0) return refused("a record must have at least one byte");
    if (o.record_bytes > (1 << 20)) return refused("--record: at most 1 MiB; use --klv for more");
    if (o.key_offset > o.record_bytes || o.key_bytes > o.record_bytes - o.key_offset) {
      return refused(fmt::format("the key, bytes {} to {}, lies beyond the record of {} bytes",
                                 o.key_offset, o.key_offset + o.key_bytes, o.record_bytes));
    }
    if (bytes % o.record_bytes != 0) {
      return refused(
          fmt::format("the input has {} bytes, no multiple of the record of {}: it is "
                      "cut, or --record is wrong",
                      bytes, o.record_bytes));
    }
  }
  if (o.format == record_format::klv && o.key_bytes > (64 << 10)) {
    return refused("--key-size: at most 64 KiB with --klv");
  }
  const std::uint64_t positions = o.format == record_format::fixed ? bytes / o.record_bytes : bytes;
  if (positions >> 40 != 0) {
    return refused("the input is too large: at most 2^40 records, or bytes with --klv or --lines");
  }
  const bool baseline = o.algorithm != sort_algorithm::automatic &&
                        o.algorithm != sort_algorithm::onepass &&
                        o.algorithm != sort_algorithm::mergepass;
  if (baseline && (o.format != record_format::fixed || o.unique || o.top != 0)) {
    return refused(
        fmt::format("--algorithm {} sorts fixed records, all of them: without --klv, "
                    "--lines, --unique and --top",
                    name(o.algorithm)));
  }
  return {};
}

base::result<void> check_files(const std::string& input, const std::string& output,
                               std::uint64_t bytes, const std::string& temporary_directory,
                               const sort::plan& p, const sort_options& o) {
  auto in = device::identity(input);
  if (!in) return std::unexpected(in.error());
  if (::access(output.c_str(), F_OK) == 0) {
    auto out = device::identity(output);
    if (!out) return std::unexpected(out.error());
    if (*in == *out) {
      return refused(output + " is the input itself: name another file for the output");
    }
  }
  const std::string directory = device::directory_of(output);
  auto room = device::free_space(directory);
  if (!room) return std::unexpected(room.error());
  if (!o.unique && o.top == 0 && *room < bytes) {
    return refused(fmt::format("no space: the output needs {} bytes in {}, {} are free", bytes,
                               directory, *room));
  }
  const std::uint64_t records = o.format == record_format::fixed ? bytes / o.record_bytes : 0;
  std::uint64_t runs = 0;
  if (p.algorithm == sort_algorithm::ems) {
    runs = bytes;
  } else if (p.must_merge || (p.may_merge && records > p.index_entries)) {
    runs = records * 16;
  }
  auto temporary = device::free_space(temporary_directory);
  if (!temporary) return std::unexpected(temporary.error());
  auto same = device::identity(directory);
  auto there = device::identity(temporary_directory);
  if (!same) return std::unexpected(same.error());
  if (!there) return std::unexpected(there.error());
  const bool shared = same->first == there->first;
  if (*temporary < runs + (shared ? bytes : 0) && !o.unique && o.top == 0) {
    return refused(fmt::format("no space: temporary runs need {} bytes in {}, {} are free{}", runs,
                               temporary_directory, *temporary,
                               shared ? ", and the output goes there too" : ""));
  }
  return {};
}

void describe(sort_report& r, const sort::job& j, const sort::plan& p, const sort::outcome& o,
              const device::model* device) {
  r.algorithm = name(o.algorithm);
  r.concurrency = name(p.concurrency);
  r.records = o.records;
  r.records_written = o.records_written;
  r.output_bytes = o.bytes_written;
  r.memory_limit_bytes = p.memory_bytes;
  r.runs = o.runs;
  r.read_threads = p.random_threads;
  r.write_threads = p.write_threads;
  r.sort_threads = p.sort_threads;
  r.stages = j.stages();
  if (device == nullptr) return;
  r.device = device->name;
  for (auto& s : r.stages) s.device_share = sort::device_share(s, p, j.options, *device);
}

}  // namespace

base::result<sort_report> sort_file(const std::string& input, const std::string& output,
                                    const sort_options& options) {
  const std::uint64_t start = os::monotonic_ns();
  auto in = sort::source::open(input);
  if (!in) return std::unexpected(in.error());
  if (auto r = check_options(options, in->size()); !r) return std::unexpected(r.error());
  auto device = sort::find_device(options.device);
  if (!device) return std::unexpected(device.error());
  const device::model* numbers = device->known ? &device->numbers : nullptr;
  auto algorithm = sort::choose(options, in->size(), numbers);
  if (!algorithm) return std::unexpected(algorithm.error());
  auto p = sort::make_plan(options, algorithm->algorithm, in->size(), numbers);
  if (!p) return std::unexpected(p.error());
  const std::string directory = options.temporary_directory.empty() ? device::directory_of(output)
                                                                    : options.temporary_directory;
  if (auto r = check_files(input, output, in->size(), directory, *p, options); !r) {
    return std::unexpected(r.error());
  }
  std::optional<device::emulation> emulation;
  if (device->emulated) emulation.emplace(device->numbers);
  sort::job j(options, emulation ? &*emulation : nullptr);
  if (p->map_input && !j.keep(in->map())) return std::unexpected(j.status().error());

  const std::string temporary = fmt::format("{}.isotherm-{}", output, ::getpid());
  auto out = device::file::create(temporary);
  if (!out) return std::unexpected(out.error());
  sort::outcome o;
  if (algorithm->algorithm == sort_algorithm::ems) {
    o = sort::merge_sort(j, *p, *in, *out, directory);
  } else if (algorithm->algorithm == sort_algorithm::samplesort) {
    o = sort::sample_sort(j, *p, *in, *out);
  } else {
    o = sort::sort_by_index(j, *p, *in, *out, directory);
  }
  if (options.check && !j.stopped()) sort::verify(j, *p, *in, *out, o);
  if (!j.stopped()) j.keep(device::rename_file(temporary, output));
  if (auto r = j.status(); !r) {
    device::remove_file(temporary);
    return std::unexpected(r.error());
  }
  sort_report report;
  describe(report, j, *p, o, numbers);
  report.input_bytes = in->size();
  report.predicted_seconds = algorithm->predicted_seconds;
  report.seconds = static_cast<double>(os::monotonic_ns() - start) * 1e-9;
  return report;
}

}  // namespace isotherm
