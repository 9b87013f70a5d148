// The entry point of sorting: refuses what cannot succeed, chooses the algorithm, runs it, and
// leaves nothing behind when it fails.
#include <isotherm/sort.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "os/clock.hpp"
#include "os/files/paths.hpp"
#include "os/files/spool.hpp"
#include "os/memory/available_memory.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/checks.hpp"
#include "sort/choice.hpp"
#include "sort/examine.hpp"
#include "sort/header.hpp"
#include "sort/input/header.hpp"
#include "sort/output/destination.hpp"
#include "sort/plan/context.hpp"
#include "sort/plan/devices.hpp"
#include "sort/verify.hpp"

namespace isotherm {
namespace {

void describe(sort_report& r, const sort::job& j, const sort::plan& p, const sort::outcome& o,
              const device::model* device) {
  r.algorithm = o.instead.empty() ? name(o.algorithm) : o.instead;
  r.concurrency = name(p.concurrency);
  r.values = o.values;
  r.records = o.records;
  r.records_written = o.records_written;
  r.output_bytes = o.bytes_written;
  r.memory_limit_bytes = p.memory_bytes;
  r.runs = o.runs.runs;
  r.runs_compressed = o.runs.compressed;
  r.index_map_bytes = o.runs.bytes;
  r.index_map_bytes_written = o.runs.bytes_written;
  r.read_threads = p.random_threads;
  r.write_threads = p.write_threads;
  r.sort_threads = p.sort_threads;
  r.stages = j.stages();
  r.places = o.places;
  if (device == nullptr) return;
  r.device = device->name;
  const double record_bytes = static_cast<double>(r.input_bytes) /
                              static_cast<double>(std::max<std::uint64_t>(1, o.records));
  const bool apart = std::ranges::any_of(p.runs, &sort::run_directory::apart);
  for (auto& s : r.stages) {
    const bool of_runs =
        s.stage == sort_stage::merge_read || (s.stage == sort_stage::run_write && o.runs.runs > 0);
    if (apart && of_runs) continue;  // on another device
    s.device_share = sort::device_share(s, p, j.options, *device, record_bytes);
  }
}

/// Refuses options that cannot succeed; gathers the facts, and chooses the plan by them.
base::result<sort::choice> decide(const sort::places& at, const sort_options& options,
                                  const sort::devices& on) {
  if (auto r = sort::check_options(options, at.input.size()); !r) return std::unexpected(r.error());
  auto known = sort::examine(at.input, options, on);
  if (!known) return std::unexpected(known.error());
  auto chosen = sort::choose(options, *known);
  if (!chosen) return chosen;
  auto p = sort::plan_with_room(chosen->plan, *known, at, options);
  if (!p) return std::unexpected(p.error());
  return sort::choice{*p, chosen->predicted};
}

/// How the algorithms that may run write, by the options.
sort::arrival arrival_of(const sort_options& o) {
  const bool anywhere = o.check || o.algorithm == sort_algorithm::samplesort || o.emulates();
  return anywhere ? sort::arrival::anywhere : sort::arrival::in_order;
}

/// The options by which the sort itself is planned: its output takes a part of the memory, and one
/// that takes bytes in order is written beside the gathering of the next.
base::result<sort_options> planned(const std::string& output, sort_options o, unsigned packers) {
  const bool in_order =
      arrival_of(o) == sort::arrival::in_order && (packers > 0 || os::is_stream(output));
  if (in_order && o.concurrency == sort_concurrency::automatic) {
    o.concurrency = sort_concurrency::io_overlap;
  }
  if (packers == 0) return o;
  if (o.memory_bytes == 0) o.memory_bytes = os::available_memory() / 2;
  const std::uint64_t taken = packers * sort::kPackerBytes;
  if (o.memory_bytes < sort::kSmallestLimit + taken) {
    return std::unexpected(
        base::error{fmt::format("--memory {} is too little to compress the output, too: give at "
                                "least {} MiB",
                                o.memory_bytes, (sort::kSmallestLimit + taken) >> 20),
                    0});
  }
  o.memory_bytes -= taken;
  return o;
}

/// Bytes of the memory limit that a copy of the input may take, so that the sort has room beside
/// it.
std::uint64_t room_for_input(const sort_options& o) {
  const std::uint64_t limit = o.memory_bytes != 0 ? o.memory_bytes : os::available_memory() / 2;
  return o.emulates() ? 0 : limit / 16 * 7;
}

base::result<sort_report> sort_to(const std::vector<std::string>& inputs, const std::string& output,
                                  const sort_options& asked) {
  const std::uint64_t start = os::monotonic_ns();
  const unsigned packers = sort::packing_threads(asked, output);
  const auto with_memory = planned(output, asked, packers);
  if (!with_memory) return std::unexpected(with_memory.error());
  const sort_options& options = *with_memory;
  const auto on = sort::devices::open(options, os::waiting_directory(output));
  if (!on) return std::unexpected(on.error());
  const std::string& directory = on->roomiest();
  sort::job j(options, on->emulation());
  auto in = sort::source::open_or_copy(j, inputs, directory, room_for_input(options));
  if (!in) return std::unexpected(in.error());
  auto chosen = decide({*in, output, directory}, options, *on);
  if (!chosen) return std::unexpected(chosen.error());
  sort::plan p = chosen->plan;
  const auto header = in->header_bytes(options);
  if (!header) return std::unexpected(header.error());
  p.header_bytes = p.output_header_bytes = *header;
  const auto resolved = sort::with_columns(options, in->handle(), *header);
  if (!resolved) return std::unexpected(resolved.error());
  const sort::record_layout layout(*resolved);
  const auto counted = sort::counted_header(*in, *header, layout, options);
  if (!counted) return std::unexpected(counted.error());
  if (!counted->empty()) p.output_header_bytes = counted->size();
  // Integers are read into no more memory than the input takes. Everything else needs its room.
  const bool are_integers = layout.integers() && p.part_records != 0;
  if (in->in_memory() && !p.map_input && !are_integers) {
    if (auto r = in->leave_memory(directory); !r) return std::unexpected(r.error());
  }
  if (p.map_input && !j.keep(in->map())) return std::unexpected(j.status().error());
  auto out =
      sort::destination::open(j, output, directory, in->handle(), arrival_of(options), packers);
  if (!out) return std::unexpected(out.error());
  const sort::context ctx{j, p, *in, layout};
  sort::write_header(ctx, *counted, out->handle());
  const sort::outcome o = sort::find(p.algorithm).run(ctx, out->handle());
  if (options.check && !j.stopped()) sort::verify(ctx, out->handle(), o);
  if (auto r = out->explain(j.status()); !r) return std::unexpected(r.error());
  if (auto r = in->check_unchanged(); !r) return std::unexpected(r.error());
  if (auto r = out->finish(j); !r) return std::unexpected(r.error());
  sort_report report;
  report.input_bytes = in->size();
  describe(report, j, p, o, on->numbers());
  report.output_bytes = out->packed_bytes() != 0 ? out->packed_bytes() : report.output_bytes;
  report.predicted_seconds = chosen->predicted.seconds;
  report.seconds = static_cast<double>(os::monotonic_ns() - start) * 1e-9;
  return report;
}

}  // namespace

// Symbolic links are resolved once, here, so that all checks and the output concern the same file.
base::result<sort_report> sort_files(const std::vector<std::string>& inputs,
                                     const std::string& output, const sort_options& options) {
  try {
    std::vector<std::string> paths;
    paths.reserve(inputs.size());
    for (const std::string& input : inputs) paths.push_back(os::spelled_out(input, STDIN_FILENO));
    return sort_to(paths, os::link_target(os::spelled_out(output, STDOUT_FILENO)), options);
  } catch (const std::exception& thrown) {
    return std::unexpected(sort::error_of(thrown));
  }
}

base::result<sort_report> sort_file(const std::string& input, const std::string& output,
                                    const sort_options& options) {
  return sort_files({input}, output, options);
}

}  // namespace isotherm
