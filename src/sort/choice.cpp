#include "sort/choice.hpp"

#include <algorithm>

#include "base/page.hpp"
#include "os/files/spool.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/checks.hpp"
#include "sort/examine.hpp"

namespace isotherm::sort {
namespace {

double records_of(const input_facts& in) { return static_cast<double>(in.bytes) / in.record_bytes; }

/// Plans the algorithm and, on an emulated device, predicts its time.
base::result<choice> consider(sort_algorithm id, const sort_options& o, const facts& known) {
  auto p = make_plan(o, id, known);
  if (!p) return std::unexpected(p.error());
  return choice{*p, known.emulated() != nullptr ? find(id).predict(*p, o, known) : prediction{}};
}

/// Returns whether the plan, for a device that is not emulated, costs less than to move whole
/// records twice: an index map may need too many scans of the input for the values, or a read by
/// call for each short record. docs/benchmarks/sort.md tells where the limits come from.
bool pays(const plan& p, const sort_options& o, const facts& known) {
  constexpr std::uint64_t kLong = 600;     // bytes; a read of such a record by call costs less than
                                           // moving it twice, if it comes from the page cache
  constexpr std::uint64_t kMostScans = 3;  // more of a disk read than moving all records twice
  constexpr std::uint64_t kMostCopies = 8;  // scans of the page cache, after one sort of all keys
  if (p.map_input || p.part_records != 0) return true;
  const std::uint64_t bytes = known.input.bytes;
  const bool cached = bytes <= known.available_bytes / 2;  // the output takes the rest
  if (!p.scan_gather) return o.record_bytes >= kLong && cached;
  const bool merges = records_of(known.input) > static_cast<double>(p.index_entries);
  return bytes <= (cached && !merges ? kMostCopies : kMostScans) * p.output_buffer_bytes;
}

/// Plans for a device that is not emulated: files in the page cache, or on a disk behind it.
/// Records that an index map does not pay for are sorted in parts, or merged where they are too
/// many for that.
base::result<choice> choose_by_rule(const sort_options& o, const facts& known) {
  const bool open = o.algorithm == sort_algorithm::automatic && o.format == record_format::fixed &&
                    o.writes_all() && known.input.bytes > 0 &&
                    o.record_bytes < base::kPageBytes;  // a call for a page or more wastes nothing
  auto best = consider(o.algorithm, o, known);
  if (!open || !best || pays(best->plan, o, known)) return best;
  if (consider_parts(best->plan, o, known)) return best;
  return consider(sort_algorithm::ems, o, known);
}

/// Plans the user's algorithm or, for `automatic`, the cheapest candidate that the options allow.
base::result<choice> choose_by_model(const sort_options& o, const facts& known) {
  auto best = consider(o.algorithm, o, known);
  if (!best || o.algorithm != sort_algorithm::automatic) return best;
  for (const algorithm* const each : algorithms()) {
    if (!each->candidate || !each->check(o)) continue;
    auto other = consider(each->id, o, known);
    if (!other || !each->obstacle(other->plan, records_of(known.input)).empty()) continue;
    if (other->predicted.seconds < best->predicted.seconds) best = std::move(other);
  }
  return best;
}

/// The algorithm that a plan runs, by the name that the report has for it.
sort_algorithm taken_by(const plan& p, double records) {
  if (p.algorithm != sort_algorithm::automatic) return p.algorithm;
  const bool fits = p.part_records != 0 || records <= static_cast<double>(p.index_entries);
  return fits ? sort_algorithm::onepass : sort_algorithm::mergepass;
}

/// Makes one line of --explain. Requires: check_options() accepts the options with the user's
/// algorithm.
sort_prediction explain_one(const algorithm& one, sort_options o, const facts& known) {
  o.algorithm = one.id;
  sort_prediction line{
      .algorithm = one.id, .taken = one.id, .seconds = 0, .obstacle = "", .runs = ""};
  const auto accepted = one.check(o);
  auto chosen = accepted ? choose_by_model(o, known) : std::unexpected(accepted.error());
  if (!chosen) {
    line.obstacle = chosen.error().message;
    return line;
  }
  const plan& p = chosen->plan;
  const double records = records_of(known.input);
  line.obstacle = find(p.algorithm).obstacle(p, records);
  if (!line.obstacle.empty()) return line;
  line.seconds = chosen->predicted.seconds;
  line.runs = chosen->predicted.runs;
  line.places = chosen->predicted.places;
  line.taken = taken_by(p, records);
  return line;
}

/// Makes the line of the user's algorithm on a device that is not emulated: where its runs go.
base::result<sort_prediction> explain_runs(const sort_options& o, const facts& known) {
  auto chosen = choose_by_rule(o, known);
  if (!chosen) return std::unexpected(chosen.error());
  plan& p = chosen->plan;
  const input_facts& in = known.input;
  consider_pieces(p, o, in.bytes / std::max<std::uint64_t>(1, in.records));
  const algorithm& one = find(p.algorithm);
  const std::uint64_t bytes = one.temporary_bytes(p, o, in.bytes, in.records);
  return sort_prediction{.algorithm = o.algorithm,
                         .taken = taken_by(p, records_of(in)),
                         .obstacle = one.obstacle(p, records_of(in)),
                         .runs = "",
                         .places = cost_of_runs(p, nullptr, static_cast<double>(bytes)).places};
}

}  // namespace

base::result<choice> choose(const sort_options& o, const facts& known) {
  return known.emulated() != nullptr ? choose_by_model(o, known) : choose_by_rule(o, known);
}

}  // namespace isotherm::sort

namespace isotherm {

base::result<std::vector<sort_prediction>> explain_sort(const std::string& input,
                                                        const sort_options& o) {
  auto from = sort::source::open(input);
  if (!from) return std::unexpected(from.error());
  if (auto r = sort::check_options(o, from->size()); !r) return std::unexpected(r.error());
  const auto on = sort::devices::open(o, os::usual_directory());
  if (!on) return std::unexpected(on.error());
  const bool placed = std::ranges::any_of(on->directories(), &sort::run_directory::apart);
  if (on->emulation() == nullptr && !placed) {
    return std::unexpected(base::error{
        "--explain needs an emulated device, --device emu:..., or directories with devices, "
        "--tmp DIR=...: it tells what the model says of them",
        0});
  }
  auto known = sort::examine(*from, o, *on);
  if (!known) return std::unexpected(known.error());
  if (on->emulation() == nullptr) {
    auto told = sort::explain_runs(o, *known);
    if (!told) return std::unexpected(told.error());
    return std::vector{*told};
  }
  std::vector<sort_prediction> all;
  for (const sort::algorithm* const one : sort::algorithms()) {
    all.push_back(sort::explain_one(*one, o, *known));
  }
  std::sort(all.begin(), all.end(), [](const sort_prediction& a, const sort_prediction& b) {
    return a.obstacle.empty() != b.obstacle.empty() ? a.obstacle.empty() : a.seconds < b.seconds;
  });
  return all;
}

}  // namespace isotherm
