// How one sort shares out its memory and threads: decided before the first byte is read, so that
// the limit is kept by construction.
#pragma once

#include <isotherm/sort.hpp>

#include <algorithm>
#include <string>

#include "device/model.hpp"
#include "sort/records.hpp"
#include "sort/runs/policy.hpp"

namespace isotherm::sort {

struct plan {
  sort_algorithm algorithm = sort_algorithm::onepass;
  bool sequential_load = false;  ///< run phase reads whole records, not keys alone: these cost
                                 ///< less, or a read by call moves them all the same
  bool scan_gather = false;      ///< values come by scans of the input, one for each output buffer
  bool may_merge = true;         ///< runs may be written when the index map does not fit
  bool must_merge = false;       ///< runs are written even if it would fit
  bool map_input = false;
  bool integers = false;  ///< the records are short keys alone and fit: sorted without an index map
  sort_concurrency concurrency = sort_concurrency::no_io_overlap;
  sort_compression compression = sort_compression::automatic;
  run_speeds run_device;  ///< zeros: not known
  unsigned read_threads = 1;
  unsigned strided_threads = 1;
  unsigned random_threads = 1;
  unsigned write_threads = 1;
  unsigned sort_threads = 1;
  std::uint64_t memory_bytes = 0;
  std::size_t output_buffer_bytes = 0;  ///< one of them; io-overlap has two
  std::size_t queue_entries = 0;        ///< records gathered at a time
  std::size_t index_entries = 0;        ///< capacity of the index map in memory
  std::size_t merge_buffer_bytes = 0;   ///< shared by the runs of one merge
  std::size_t regroup_bytes = 0;  ///< of the input, sorted in memory and written anew at a time; 0:
                                  ///< records stay where they are
  std::uint64_t mapping_memory_bytes = 0;  ///< sample sort that cannot map the input: a limit with
                                           ///< which it could
};

/// Shares out `options.memory_bytes` (0: half of what is available) for an input of `input_bytes`.
/// An error if the limit is too small to work in.
base::result<plan> make_plan(const sort_options& options, sort_algorithm algorithm,
                             std::uint64_t input_bytes, const device::model* device);

/// Whether records of a mean size of `record_bytes` are better moved than read by a call each, at
/// random: where the input is read by calls and no device is emulated. Shares out the index map's
/// memory anew if so.
bool consider_regrouping(plan& p, const sort_options& options, std::uint64_t record_bytes);

/// How many runs of an index map one merge with a buffer of so many bytes takes.
constexpr std::size_t merge_fan_in(std::uint64_t buffer_bytes) noexcept {
  constexpr std::uint64_t kOneRun = 128 << 10;
  return buffer_bytes < 2 * kOneRun ? 2 : buffer_bytes / kOneRun;
}

/// Records that a thread of sample sort copies to order them.
inline constexpr std::uint64_t kSamplesortCopied = 16384;
/// Parts that a level of it cuts the records into, keys that are equal to a bound not counted.
inline constexpr std::uint64_t kSamplesortBuckets = 256;

/// How often sample sort moves each of so many records: once at each level of buckets, and once
/// where few are left.
constexpr std::uint64_t samplesort_levels(std::uint64_t records) noexcept {
  std::uint64_t levels = 1;
  for (; records > kSamplesortCopied; records /= kSamplesortBuckets) ++levels;
  return levels;
}

/// What to tell who wants a sample sort that this plan has too little memory for.
std::string samplesort_needs(const plan& p);

/// How many threads sample sort has: each reads and writes, so it wants the most of all pools.
constexpr unsigned samplesort_threads(const plan& p) noexcept {
  return std::max({p.random_threads, p.write_threads, p.sort_threads});
}

/// What a thread may use for views of the input and small buffers.
inline constexpr std::size_t kThreadScratchBytes = 256 << 10;

}  // namespace isotherm::sort
