// How one sort shares out its memory and threads: decided before the first byte is read, so that
// the limit is kept by construction.
#pragma once

#include <isotherm/sort.hpp>

#include "device/model.hpp"
#include "sort/coding/policy.hpp"
#include "sort/input/records.hpp"

namespace isotherm::sort {

/// What an algorithm may do otherwise than it was published, where that costs less.
enum class liberty {
  none,
  real_devices,  ///< keys may come with their records; values by scans, but not on emulated
                 ///< devices, where the algorithm is the papers'
  full,  ///< also integers without an index map, and records that are written anew in sorted pieces
};

/// How an algorithm goes about its work, as far as memory and threads are shared out by it.
struct approach {
  bool one_thread = false;
  bool loads_records = false;  ///< the run phase reads whole records, not keys alone
  bool record_runs = false;    ///< runs hold whole records, not an index map's entries
  bool scans = false;          ///< values come by scans of the input, one for each output buffer
  bool may_merge = false;      ///< runs may be written when the index map does not fit
  bool must_merge = false;     ///< runs are written even if it would fit
  bool in_place = false;       ///< works on the output, which is mapped beside the mapped input
  std::uint64_t copied_records = 0;  ///< that each thread copies to order them
  liberty freedom = liberty::none;
};

struct plan {
  sort_algorithm algorithm = sort_algorithm::onepass;
  approach way;
  bool sequential_load = false;  ///< run phase reads whole records, not keys alone: these cost
                                 ///< less, or a read by call moves them all the same
  bool scan_gather = false;      ///< values come by scans of the input, one for each output buffer
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
  std::uint64_t mapping_memory_bytes = 0;  ///< in place, but the input can't be mapped: a limit
                                           ///< with which it could
};

/// Shares out `options.memory_bytes` (0: half of what is available) for an input of `input_bytes`.
/// An error if the limit is too small to work in.
base::result<plan> make_plan(const sort_options& options, const approach& way,
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

/// What a thread may use for views of the input and small buffers.
inline constexpr std::size_t kThreadScratchBytes = 256 << 10;

}  // namespace isotherm::sort
