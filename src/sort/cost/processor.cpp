#include "sort/cost/processor.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "os/clock.hpp"
#include "os/thread_pool.hpp"
#include "sort/input/records.hpp"
#include "sort/input/sort_entries.hpp"
#include "sort/runs/loser_tree.hpp"

namespace isotherm::sort {
namespace {

/// Measures the time to sort one entry, and to code it in a run.
void measure_entries(processor_speed& cpu) {
  const record_layout layout(sort_options{});
  std::vector<entry> entries(1 << 16);
  base::random random(1);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    std::byte key[16];
    for (auto& b : key) b = static_cast<std::byte>(random());
    entries[i] = layout.fixed_entry(key, i);
  }
  os::thread_pool pool;
  const std::uint64_t start = os::monotonic_ns();
  sort_entries(entries, pool, 1);
  cpu.sort_ns =
      static_cast<double>(os::monotonic_ns() - start) / static_cast<double>(entries.size());
  cpu.coding = measure_coding(layout.entries(), entries);
}

/// Time to merge one record of `bytes` from eight runs: one comparison a level, and a copy.
double measure_merge_ns(double bytes) {
  constexpr std::size_t kRuns = 8;
  constexpr double kLargest = 4096;  // beyond it the time of the copy is all that counts
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

}  // namespace

processor_speed measure_processor(const source& input, const input_facts& facts) {
  processor_speed cpu;
  measure_entries(cpu);
  cpu.merge_entry_ns = measure_merge_ns(16);
  cpu.merge_record_ns = measure_merge_ns(facts.record_bytes);
  cpu.call_ns = measure_call_ns(input, facts);
  return cpu;
}

}  // namespace isotherm::sort
