#include "sort/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "device/io.hpp"
#include "device/profile.hpp"
#include "os/available_memory.hpp"
#include "os/clock.hpp"
#include "sort/algorithms/loser_tree.hpp"
#include "sort/checks.hpp"

namespace isotherm::sort {
namespace {

constexpr sort_algorithm kCandidates[] = {
    sort_algorithm::automatic,   sort_algorithm::onepass,     sort_algorithm::mergepass,
    sort_algorithm::ems,         sort_algorithm::samplesort,  sort_algorithm::pmsort,
    sort_algorithm::pmsort_plus, sort_algorithm::modified_key};

/// To sort one entry, and to code it in a run.
void measure_entries(processor_speed& cpu) {
  const record_layout layout(sort_options{});
  std::vector<entry> entries(1 << 16);
  base::random random(1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::byte key[16];
    for (auto& b : key) b = static_cast<std::byte>(random());
    entries[i] = layout.fixed_entry(key, i);
  }
  device::thread_pool pool;
  const std::uint64_t start = os::monotonic_ns();
  sort_entries(entries, pool, 1);
  cpu.sort_ns =
      static_cast<double>(os::monotonic_ns() - start) / static_cast<double>(entries.size());
  cpu.coding = measure_coding(layout.entries(), entries);
}

/// What --explain says of the runs; nothing if there are none.
std::string words_for(const run_forecast& f, double records) {
  if (f.runs == 0) return "";
  const double entries = records * f.entry_passes * 1e-9;
  return fmt::format(
      "runs {}: {:.1f} instead of {:.0f} bytes an entry would save {:.3f} s of the device for "
      "{:.3f} s of the processor",
      f.compressed ? "compressed" : "not compressed", f.coded_bytes, f.plain_bytes,
      f.balance.saved_ns * entries, f.balance.spent_ns * entries);
}

/// Time to merge one record of `bytes` from eight runs: a comparison a level, and a copy.
double measure_merge_ns(double bytes) {
  constexpr std::size_t kRuns = 8;
  constexpr double kLargest = 4096;  // beyond it the copy is all there is
  const auto record = static_cast<std::size_t>(std::clamp(bytes, 16.0, kLargest));
  const std::size_t each = (std::size_t{2} << 20) / kRuns / record;
  std::vector<std::byte> runs(kRuns * each * record);
  std::vector<std::byte> merged(runs.size());
  base::random random(1);
  for (std::size_t r = 0; r < kRuns; ++r) {
    std::uint64_t key = 0;
    for (std::size_t i = 0; i < each; ++i) {
      key += random.below(1 << 20);
      const std::uint64_t big_endian = __builtin_bswap64(key);
      std::memcpy(&runs[(r * each + i) * record], &big_endian, sizeof key);
    }
  }
  std::array<std::size_t, kRuns> at{};
  const auto head = [&](std::size_t r) { return &runs[(r * each + at[r]) * record]; };
  const std::uint64_t start = os::monotonic_ns();
  loser_tree tree(kRuns, [&](std::size_t a, std::size_t b) {
    if (at[a] == each) return false;
    return at[b] == each || std::memcmp(head(a), head(b), 10) < 0;
  });
  for (std::size_t i = 0; i < kRuns * each; ++i) {
    std::memcpy(&merged[i * record], head(tree.winner()), record);
    ++at[tree.winner()];
    tree.replay();
  }
  const double ns = static_cast<double>(os::monotonic_ns() - start);
  return ns / static_cast<double>(kRuns * each) * std::max(1.0, bytes / kLargest);
}

/// How often each entry of equal runs is written and read, if merges take the smallest runs first
/// and no more of them than the last merge wants merged.
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

bool is_emulated(const std::string& device) { return device.starts_with("emu:"); }

/// Nanoseconds of a call that reads a record from anywhere in the input.
double measure_call_ns(const source& input, const input_facts& facts) {
  constexpr unsigned kCalls = 256;
  std::array<std::byte, 4096> record;
  const auto bytes = std::span(record).first(static_cast<std::size_t>(
      std::clamp(facts.record_bytes, 1.0, static_cast<double>(record.size()))));
  base::random random(1);
  const std::uint64_t start = os::monotonic_ns();
  for (unsigned i = 0; i < kCalls; ++i) {
    // Ignored; the real read reports it.
    if (!input.handle().read_some(bytes, random.below(std::max<std::uint64_t>(1, facts.bytes))))
      return 0;
  }
  return static_cast<double>(os::monotonic_ns() - start) / kCalls;
}

/// Whether the plan's algorithm can work in its memory: sample sort needs input and output in it.
bool runs_here(const plan& p) { return p.algorithm != sort_algorithm::samplesort || p.map_input; }

/// The algorithm for files as they are: in the page cache, or read from a disk behind it. Whole
/// records are moved where index maps would fetch the values by too many scans, or short ones by
/// calls. An index map that just fits leaves little room for values: runs of it leave more, and so
/// make fewer scans. docs/benchmarks.md has what these limits come from, and what is lost to the
/// best algorithm.
base::result<sort_algorithm> choose_by_rule(const sort_options& o, std::uint64_t bytes,
                                            const device::model* device) {
  constexpr std::uint64_t kPage = 4096;  // of a record this large a read by call wastes nothing
  constexpr std::uint64_t kLong = 600;   // a read by call costs less than to move it twice
  constexpr std::uint64_t kMostScans = 14;
  constexpr std::uint64_t kMostOfOnePass = 10;  // more cost more than merging runs
  constexpr std::uint64_t kMostOfDisk = 3;
  const bool choice = o.algorithm == sort_algorithm::automatic &&
                      o.format == record_format::fixed && o.writes_all();
  if (!choice || bytes == 0 || o.record_bytes >= kPage) return o.algorithm;
  // The keys come with the whole input: the page cache has it when its values are fetched.
  const bool cached = bytes <= os::available_memory() / 2;  // the output wants as much
  for (const auto algorithm : {sort_algorithm::automatic, sort_algorithm::mergepass}) {
    const auto p = make_plan(o, algorithm, bytes, device);
    if (!p) return std::unexpected(p.error());
    if (p->map_input || p->integers) return algorithm;
    const bool one_pass = !p->must_merge && bytes / o.record_bytes <= p->index_entries;
    const auto most = !cached ? kMostOfDisk : one_pass ? kMostOfOnePass : kMostScans;
    const bool pays =
        p->scan_gather ? bytes <= most * p->output_buffer_bytes : cached && o.record_bytes >= kLong;
    if (pays) return algorithm;
  }
  return sort_algorithm::ems;
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

base::result<input_facts> examine(const source& input, const sort_options& o) {
  const auto records = estimate_records(input, o);
  if (!records) return std::unexpected(records.error());
  const auto bytes = static_cast<double>(input.size());
  const auto mean = bytes / static_cast<double>(std::max<std::uint64_t>(1, *records));
  return input_facts{input.size(), std::max(1.0, mean)};
}

processor_speed measure_processor(const source& input, const input_facts& facts) {
  processor_speed cpu;
  measure_entries(cpu);
  cpu.merge_entry_ns = measure_merge_ns(16);
  cpu.merge_record_ns = measure_merge_ns(facts.record_bytes);
  cpu.call_ns = measure_call_ns(input, facts);
  return cpu;
}

run_forecast forecast_runs(const plan& p, const sort_options& o, const input_facts& in,
                           const processor_speed& cpu) {
  const double records = static_cast<double>(in.bytes) / in.record_bytes;
  const auto in_memory = static_cast<double>(p.index_entries);
  run_forecast f;
  if (!p.must_merge && records <= in_memory) return f;
  f.runs = std::max(1.0, std::ceil(records / in_memory));
  f.entry_passes = entry_passes(f.runs, merge_fan_in(p.merge_buffer_bytes));
  f.plain_bytes = record_layout(o).entries().packed_bytes();
  f.coded_bytes = cpu.coding.bytes;
  f.balance = balance_of(f.plain_bytes, cpu.coding, p.run_device, p.write_threads);
  f.compressed = p.compression == sort_compression::on ||
                 (p.compression == sort_compression::automatic && f.balance.pays());
  return f;
}

namespace {

/// The user's algorithm, or of those that keep all that the options promise the cheapest.
base::result<algorithm_choice> choose_with_device(const sort_options& o, const input_facts& facts,
                                                  const device::model& device,
                                                  const processor_speed& cpu) {
  using enum sort_algorithm;
  algorithm_choice best;
  for (const auto algorithm : {automatic, ems, samplesort}) {
    sort_options with = o;
    if (o.algorithm == automatic) with.algorithm = algorithm;
    if (algorithm != automatic && !check_options(with, facts.bytes)) continue;
    auto p = make_plan(o, with.algorithm, facts.bytes, &device);
    if (!p && algorithm == automatic) return std::unexpected(p.error());
    if (!p) continue;
    const double seconds = predict(*p, o, facts, device, cpu);
    if (algorithm == automatic || (seconds < best.predicted_seconds && runs_here(*p))) {
      best = {with.algorithm, seconds};
    }
    if (o.algorithm != automatic) break;
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
  const double records = static_cast<double>(facts.bytes) / facts.record_bytes;
  if (!p) {
    one.obstacle = p.error().message;
    return one;
  }
  const bool fits = records <= static_cast<double>(p->index_entries);
  if (!p->may_merge && !fits) {
    one.obstacle = "the index map does not fit in the memory limit";
  } else if (!runs_here(*p)) {
    one.obstacle = samplesort_needs(*p);
  } else {
    one.seconds = chosen->predicted_seconds;
    one.taken = chosen->algorithm;
    if (one.taken == sort_algorithm::automatic) {
      one.taken = fits ? sort_algorithm::onepass : sort_algorithm::mergepass;
    }
    if (one.taken != sort_algorithm::ems && one.taken != sort_algorithm::samplesort) {
      one.runs = words_for(forecast_runs(*p, o, facts, cpu), records);
    }
  }
  return one;
}

}  // namespace

base::result<algorithm_choice> choose(const sort_options& o, const source& input,
                                      const device::model* device) {
  if (device == nullptr || !device->emulated()) {
    auto taken = choose_by_rule(o, input.size(), device);
    if (!taken) return std::unexpected(taken.error());
    return algorithm_choice{*taken, 0};
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
  for (const auto algorithm : sort::kCandidates) {
    all.push_back(sort::explain_one(algorithm, o, *facts, device->numbers, cpu));
  }
  std::sort(all.begin(), all.end(), [](const sort_prediction& a, const sort_prediction& b) {
    return a.obstacle.empty() != b.obstacle.empty() ? a.obstacle.empty() : a.seconds < b.seconds;
  });
  return all;
}

}  // namespace isotherm
