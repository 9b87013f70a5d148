#include "sort/choice.hpp"

#include <algorithm>

#include "base/page.hpp"
#include "device/profile.hpp"
#include "os/memory/available_memory.hpp"
#include "sort/algorithms/registry.hpp"
#include "sort/checks.hpp"

namespace isotherm::sort {
namespace {

bool is_emulated(const std::string& device) { return device.starts_with("emu:"); }

/// The algorithm for a device that is not emulated: files in the page cache, or on a disk behind
/// it. External merge sort moves whole records; it is taken where index maps would need too many
/// scans of the input for the values, or a read by call for each short record. An index map that
/// just fits leaves little room for values; runs of it leave more, and so need fewer scans.
/// docs/benchmarks tells where the limits come from, and how far the choice is from the best
/// algorithm.
base::result<sort_algorithm> choose_by_rule(const sort_options& o, std::uint64_t bytes,
                                            const device::model* device) {
  constexpr std::uint64_t kLong = 600;  // bytes; a read of such a record by call costs less than
                                        // moving it twice
  constexpr std::uint64_t kMostScans = 14;
  constexpr std::uint64_t kMostOfOnePass = 10;  // more scans cost more than merging runs
  constexpr std::uint64_t kMostOfDisk = 3;
  const bool choice = o.algorithm == sort_algorithm::automatic &&
                      o.format == record_format::fixed && o.writes_all();
  // A read by call of a record of at least one page wastes nothing.
  if (!choice || bytes == 0 || o.record_bytes >= base::kPageBytes) return o.algorithm;
  // The keys come with the whole input, which is in the page cache when values are fetched,
  // provided that it fits there beside the output.
  const bool cached = bytes <= os::available_memory() / 2;  // the output takes the other half
  for (const auto algorithm : {sort_algorithm::automatic, sort_algorithm::mergepass}) {
    const auto p = make_plan(o, algorithm, bytes, device);
    if (!p) return std::unexpected(p.error());
    if (p->map_input || p->integers) return algorithm;
    const bool one_pass = !p->way.must_merge && bytes / o.record_bytes <= p->index_entries;
    const auto most = !cached ? kMostOfDisk : one_pass ? kMostOfOnePass : kMostScans;
    const bool pays =
        p->scan_gather ? bytes <= most * p->output_buffer_bytes : cached && o.record_bytes >= kLong;
    if (pays) return algorithm;
  }
  return sort_algorithm::ems;
}

double records_of(const input_facts& facts) {
  return static_cast<double>(facts.bytes) / facts.record_bytes;
}

/// The user's algorithm or, for `automatic`, the cheapest candidate that the options allow.
base::result<algorithm_choice> choose_with_device(const sort_options& o, const input_facts& facts,
                                                  const device::model& device,
                                                  const processor_speed& cpu) {
  auto p = make_plan(o, o.algorithm, facts.bytes, &device);
  if (!p) return std::unexpected(p.error());
  algorithm_choice best{o.algorithm, find(o.algorithm).predict(*p, o, facts, device, cpu)};
  if (o.algorithm != sort_algorithm::automatic) return best;
  for (const algorithm* const other : algorithms()) {
    sort_options with = o;
    with.algorithm = other->id;
    if (!other->candidate || !check_options(with, facts.bytes)) continue;
    p = make_plan(o, other->id, facts.bytes, &device);
    if (!p || !other->obstacle(*p, records_of(facts)).empty()) continue;
    auto predicted = other->predict(*p, o, facts, device, cpu);
    if (predicted.seconds < best.predicted.seconds) best = {other->id, std::move(predicted)};
  }
  return best;
}

/// One line of --explain.
sort_prediction explain_one(sort_algorithm algorithm, const sort_options& options,
                            const input_facts& facts, const device::model& device,
                            const processor_speed& cpu) {
  sort_prediction one{
      .algorithm = algorithm, .taken = algorithm, .seconds = 0, .obstacle = "", .runs = ""};
  sort_options o = options;
  o.algorithm = algorithm;
  if (auto r = check_options(o, facts.bytes); !r) {
    one.obstacle = r.error().message;
    return one;
  }
  auto chosen = choose_with_device(o, facts, device, cpu);
  auto p = chosen ? make_plan(o, chosen->algorithm, facts.bytes, &device)
                  : base::result<plan>(std::unexpected(chosen.error()));
  const double records = records_of(facts);
  if (!p) {
    one.obstacle = p.error().message;
    return one;
  }
  one.obstacle = find(chosen->algorithm).obstacle(*p, records);
  if (!one.obstacle.empty()) return one;
  one.seconds = chosen->predicted.seconds;
  one.runs = chosen->predicted.runs;
  one.taken = chosen->algorithm;
  if (one.taken == sort_algorithm::automatic) {
    const bool fits = records <= static_cast<double>(p->index_entries);
    one.taken = fits ? sort_algorithm::onepass : sort_algorithm::mergepass;
  }
  return one;
}

}  // namespace

base::result<device_choice> find_device(const std::string& name) {
  device_choice choice;
  if (name.empty()) return choice;
  choice.known = true;
  if (is_emulated(name)) {
    auto m = device::preset(name);
    if (!m) return std::unexpected(m.error());
    choice.emulated = true;
    choice.numbers = std::move(*m);
    return choice;
  }
  auto profile = device::load_profile(name);
  if (!profile) return std::unexpected(profile.error());
  choice.numbers = device::as_model(*profile);
  return choice;
}

base::result<algorithm_choice> choose(const sort_options& o, const source& input,
                                      const device::model* device) {
  if (device == nullptr || !device->emulated()) {
    auto taken = choose_by_rule(o, input.size(), device);
    if (!taken) return std::unexpected(taken.error());
    return algorithm_choice{*taken};
  }
  auto facts = examine(input, o);
  if (!facts) return std::unexpected(facts.error());
  return choose_with_device(o, *facts, *device, measure_processor(input, *facts));
}

}  // namespace isotherm::sort

namespace isotherm {

base::result<std::vector<sort_prediction>> explain_sort(const std::string& input,
                                                        const sort_options& o) {
  auto from = sort::source::open(input);
  if (!from) return std::unexpected(from.error());
  if (auto r = sort::check_options(o, from->size()); !r) return std::unexpected(r.error());
  auto device = sort::find_device(o.device);
  if (!device) return std::unexpected(device.error());
  if (!device->emulated) {
    return std::unexpected(base::error{
        "--explain needs an emulated device, --device emu:...: it tells what the model says of it",
        0});
  }
  auto facts = sort::examine(*from, o);
  if (!facts) return std::unexpected(facts.error());
  const auto cpu = sort::measure_processor(*from, *facts);
  std::vector<sort_prediction> all;
  for (const sort::algorithm* const one : sort::algorithms()) {
    all.push_back(sort::explain_one(one->id, o, *facts, device->numbers, cpu));
  }
  std::sort(all.begin(), all.end(), [](const sort_prediction& a, const sort_prediction& b) {
    return a.obstacle.empty() != b.obstacle.empty() ? a.obstacle.empty() : a.seconds < b.seconds;
  });
  return all;
}

}  // namespace isotherm
