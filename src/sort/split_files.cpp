// Entry points of dividing and sampling: refuse options that do not fit, then read the input once.
#include <isotherm/split.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "os/clock.hpp"
#include "os/files/paths.hpp"
#include "os/files/spool.hpp"
#include "sort/checks.hpp"
#include "sort/header.hpp"
#include "sort/input/header.hpp"
#include "sort/split/split.hpp"

namespace isotherm {
namespace {

/// Records of the sample for each part: its size has a standard deviation of 3% then.
constexpr std::uint64_t kSampledOfPart = 1000;

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

/// An input that is read once, without sorting it.
struct scan {
  scan(const sort_options& o, sort::source&& s, const sort::plan& p)
      : work(o, nullptr), input(std::move(s)), share(p), layout(work.options) {}

  static base::result<std::unique_ptr<scan>> of(const std::vector<std::string>& inputs,
                                                const std::string& output,
                                                const sort_options& options);
  sort::context context() { return {work, share, input, layout}; }

  sort::job work;
  sort::source input;
  sort::plan share;
  sort::record_layout layout;
};

base::result<std::unique_ptr<scan>> scan::of(const std::vector<std::string>& inputs,
                                             const std::string& output, const sort_options& asked) {
  sort_options o = asked;
  o.algorithm = sort_algorithm::onepass;
  if (!o.writes_all() || o.check || !o.device.empty()) {
    return refused(
        "dividing and sampling only read: leave out --unique, --count, --top, --verify "
        "and --device, and give them to the sort of the parts");
  }
  if (o.packing != sort_packing::automatic && o.packing != sort_packing::none) {
    return refused("parts and samples are not compressed: leave out --pack");
  }
  const auto directory = sort::directory_for_copies(o, os::waiting_directory(output));
  if (!directory) return std::unexpected(directory.error());
  sort::job j(o, nullptr);
  auto in = sort::source::open_or_copy(j, inputs, *directory, 0);
  if (!in) return std::unexpected(in.error());
  if (auto r = sort::check_options(o, in->size()); !r) return std::unexpected(r.error());
  auto p = sort::make_plan(o, {}, sort::facts_of({.bytes = in->size()}, nullptr));
  if (!p) return std::unexpected(p.error());
  const auto header = in->header_bytes(o);
  if (!header) return std::unexpected(header.error());
  p->header_bytes = p->output_header_bytes = *header;
  auto resolved = sort::with_columns(o, in->handle(), *header);
  if (!resolved) return std::unexpected(resolved.error());
  return std::make_unique<scan>(*resolved, std::move(*in), *p);
}

/// Reads the boundaries of `parts` parts from `path`.
base::result<sort::boundaries> read_boundaries(scan& of, const std::string& path,
                                               std::uint64_t parts) {
  auto in = sort::source::open(path);
  if (!in) return std::unexpected(in.error());
  const auto named = [&](const base::error& e) {
    return std::unexpected(base::error{fmt::format("{}: {}", path, e.message), e.code});
  };
  if (auto r = sort::check_options(of.work.options, in->size()); !r) return named(r.error());
  const auto header = in->header_bytes(of.work.options);
  if (!header) return std::unexpected(header.error());
  sort::plan p = of.share;
  p.header_bytes = *header;
  const sort::context there{of.work, p, *in, of.layout};
  sort::boundaries found(of.layout, sort::all_records(there, of.share.room_bytes / 4));
  if (auto r = of.work.status(); !r) return named(r.error());
  if (found.size() + 1 != parts) {
    return refused(fmt::format("{} parts take {} boundaries: {} has {}", parts, parts - 1, path,
                               found.size()));
  }
  if (const std::uint64_t i = found.out_of_order(); i != 0) {
    return refused(
        fmt::format("{}: boundary {} comes before the one in front of it: sort them by "
                    "the same options",
                    path, i));
  }
  return found;
}

base::result<sort::boundaries> find_boundaries(scan& of, const split_request& asked) {
  const std::uint64_t parts = asked.outputs.size();
  if (!asked.boundaries.empty()) return read_boundaries(of, asked.boundaries, parts);
  auto sample = sort::sample_of(of.context(), kSampledOfPart * parts, of.share.room_bytes / 4);
  if (auto r = of.work.status(); !r) return std::unexpected(r.error());
  return sort::boundaries(of.layout, std::move(sample), parts);
}

base::result<split_report> split_to(const std::vector<std::string>& inputs,
                                    const split_request& asked, const sort_options& options) {
  const std::uint64_t start = os::monotonic_ns();
  const auto found =
      sort::directory_for_copies(options, os::waiting_directory(asked.outputs.front()));
  if (!found) return std::unexpected(found.error());
  const std::string& directory = *found;
  auto s = scan::of(inputs, asked.outputs.front(), options);
  if (!s) return std::unexpected(s.error());
  scan& of = **s;
  for (const std::string& output : asked.outputs) {
    const std::string where = os::waiting_directory(output, directory);
    if (auto r = sort::check_output({of.input, output, directory}, where, of.input.size()); !r) {
      return std::unexpected(r.error());
    }
  }
  auto between = find_boundaries(of, asked);
  if (!between) return std::unexpected(between.error());
  auto files = sort::part_files::open(of.work, asked.outputs, directory, of.input.handle());
  if (!files) return std::unexpected(files.error());
  files->write_header(of.context());
  split_report report;
  report.records = sort::split(of.context(), *between, asked.place_begin, asked.place_end, *files);
  if (auto r = of.work.status(); !r) return std::unexpected(r.error());
  if (auto r = of.input.check_unchanged(); !r) return std::unexpected(r.error());
  if (auto r = files->finish(of.work); !r) return std::unexpected(r.error());
  report.input_bytes = of.input.size();
  for (std::size_t i = 0; i < asked.outputs.size(); ++i) {
    report.parts.push_back({asked.outputs[i], files->records(i), files->bytes(i)});
  }
  report.seconds = static_cast<double>(os::monotonic_ns() - start) * 1e-9;
  return report;
}

base::result<std::uint64_t> sample_to(const std::vector<std::string>& inputs,
                                      const std::string& output, std::uint64_t records,
                                      const sort_options& options) {
  auto s = scan::of(inputs, output, options);
  if (!s) return std::unexpected(s.error());
  scan& of = **s;
  const auto sample = sort::sample_of(of.context(), records, of.share.room_bytes / 2);
  if (auto r = of.work.status(); !r) return std::unexpected(r.error());
  const auto directory = sort::directory_for_copies(options, "");
  if (!directory) return std::unexpected(directory.error());
  auto out = sort::destination::open(of.work, output, *directory, of.input.handle(),
                                     sort::arrival::in_order, 0);
  if (!out) return std::unexpected(out.error());
  sort::write_header(of.context(), {}, out->handle());
  std::uint64_t at = of.share.output_header_bytes;
  for (const sort::record_in_memory& r : sample.records()) {
    if (!of.work.keep(out->handle().write({r.first, r.bytes}, at))) break;
    at += r.bytes;
  }
  if (auto r = of.work.status(); !r) return std::unexpected(r.error());
  if (auto r = out->finish(of.work); !r) return std::unexpected(r.error());
  return sample.records().size();
}

std::vector<std::string> opened(const std::vector<std::string>& inputs) {
  std::vector<std::string> paths;
  paths.reserve(inputs.size());
  for (const std::string& input : inputs) paths.push_back(os::spelled_out(input, STDIN_FILENO));
  return paths;
}

/// Checks that each output is a file of its own, and none that is read.
base::result<void> check_names(const std::vector<std::string>& inputs, const split_request& asked) {
  std::set<std::filesystem::path> seen;
  for (const std::string& output : asked.outputs) {
    if (!seen.insert(std::filesystem::weakly_canonical(output)).second) {
      return refused(fmt::format("two parts have the name {}: give each its own", output));
    }
    const auto is_output = [&](const std::string& read) { return os::same_file(read, output); };
    if (std::ranges::any_of(inputs, is_output) ||
        (!asked.boundaries.empty() && is_output(asked.boundaries))) {
      return refused(
          fmt::format("the part {} would replace a file that is read: name the parts "
                      "otherwise",
                      output));
    }
  }
  return {};
}

}  // namespace

base::result<split_report> split_files(const std::vector<std::string>& inputs,
                                       const split_request& request, const sort_options& options) {
  if (request.outputs.size() < 2) return refused("a split takes two parts or more");
  if (!(request.place_begin >= 0 && request.place_begin <= request.place_end &&
        request.place_end <= 1)) {
    return refused("the place of an input is an interval within 0 and 1");
  }
  try {
    split_request resolved = request;
    for (std::string& output : resolved.outputs) output = os::link_target(output);
    const std::vector<std::string> paths = opened(inputs);
    if (auto r = check_names(paths, resolved); !r) return std::unexpected(r.error());
    return split_to(paths, resolved, options);
  } catch (const std::exception& thrown) {
    return std::unexpected(sort::error_of(thrown));
  }
}

base::result<std::uint64_t> sample_files(const std::vector<std::string>& inputs,
                                         const std::string& output, std::uint64_t records,
                                         const sort_options& options) {
  if (records == 0) return refused("a sample takes one record or more");
  try {
    const std::string to = os::link_target(os::spelled_out(output, STDOUT_FILENO));
    return sample_to(opened(inputs), to, records, options);
  } catch (const std::exception& thrown) {
    return std::unexpected(sort::error_of(thrown));
  }
}

}  // namespace isotherm
