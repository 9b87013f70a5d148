// How one sort shares out its memory and threads: decided before the first byte is read, so that
// the limit is kept by construction.
#pragma once

#include <isotherm/sort.hpp>

#include <vector>

#include "sort/coding/policy.hpp"
#include "sort/input/records.hpp"
#include "sort/plan/devices.hpp"
#include "sort/plan/facts.hpp"

namespace isotherm::sort {

/// How far an algorithm may deviate from its published form where that costs less.
enum class liberty {
  none,
  real_devices,  ///< keys may be read with their records, and values by scans; on emulated devices
                 ///< values are read as in the papers
  full,          ///< also whole records without an index map, and runs of records
};

/// Properties of an algorithm that decide how memory and threads are shared out.
struct approach {
  bool one_thread = false;
  bool loads_records = false;  ///< the run phase reads whole records, not keys alone
  bool record_runs = false;    ///< runs hold whole records, not an index map's entries
  bool scans = false;          ///< values come by scans of the input, one for each output buffer
  bool may_merge = false;      ///< runs may be written when the index map does not fit
  bool must_merge = false;     ///< runs are written even if it would fit
  bool in_place = false;       ///< works on the output, which is mapped beside the mapped input
  std::uint64_t copied_records = 0;  ///< number that each thread copies to order them
  liberty freedom = liberty::none;
};

struct plan {
  sort_algorithm algorithm = sort_algorithm::onepass;
  approach way;
  bool sequential_load = false;  ///< the run phase reads whole records: they cost less than keys
                                 ///< alone, or a read by call moves them anyway
  bool scan_gather = false;      ///< values come by scans of the input, one for each output buffer
  bool map_input = false;
  std::uint64_t part_records =
      0;  ///< that are sorted in memory at a time, whole and without an index
          ///< map, in runs and then in parts of the order; 0: by an index map
  sort_concurrency concurrency = sort_concurrency::no_io_overlap;
  sort_compression compression = sort_compression::automatic;
  run_speeds run_device;              ///< of the first of `runs`; zeros: it is not emulated
  std::vector<run_directory> runs{};  ///< the fastest first; each run goes to the first that has
                                      ///< room for it
  bool runs_apart = false;  ///< whether no run lies on the device of input or output: runs are
                            ///< read while that one is written, and the other way round
  unsigned read_threads = 1;
  unsigned strided_threads = 1;
  unsigned random_threads = 1;
  unsigned write_threads = 1;
  unsigned sort_threads = 1;
  unsigned selection_threads = 0;  ///< that select the first records of --top in one pass over the
                                   ///< input; 0: all records are sorted
  std::uint64_t memory_bytes = 0;
  std::uint64_t room_bytes = 0;         ///< of memory_bytes, without the program and its threads
  std::size_t output_buffer_bytes = 0;  ///< of each buffer; io-overlap has two
  std::size_t queue_entries = 0;        ///< records gathered at a time
  std::size_t index_entries = 0;        ///< capacity of the index map in memory
  std::size_t merge_buffer_bytes = 0;   ///< shared by the runs of one merge
  std::size_t piece_bytes = 0;          ///< of the input, sorted in memory and written as a run of
                                        ///< records at a time; 0: runs hold entries
  std::uint64_t header_bytes = 0;       ///< at the front of the input, not sorted
  std::uint64_t output_header_bytes = 0;  ///< at the front of the output; as many, but with --count
  std::uint64_t mapping_memory_bytes = 0;  ///< if an in-place sort cannot map its input: a limit
                                           ///< with which it could
};

/// The device of input and output, as the plan uses it.
device_use main_use(const plan& p, device::emulation* emulation) noexcept;

/// Shares out `options.memory_bytes` (0: half of the available memory). Uses only the size of the
/// input and, for --top, the number and the mean size of its records. An error if the limit is too
/// small to work in.
base::result<plan> make_plan(const sort_options& options, const approach& way, const facts& known);

/// Plans to sort in pieces, which become runs of records (sort/merge), and shares out the memory
/// anew for that, where it costs less than reads of keys and records by place: for lines, klv
/// records, and fixed records of which not all are written, of an input read by calls on a device
/// that is not emulated. `record_bytes` is their mean size. Returns whether it did.
bool consider_pieces(plan& p, const sort_options& options, std::uint64_t record_bytes);

/// How many runs of an index map one merge takes with a buffer of `buffer_bytes`.
constexpr std::size_t merge_fan_in(std::uint64_t buffer_bytes) noexcept {
  constexpr std::uint64_t kOneRun = 128 << 10;
  return buffer_bytes < 2 * kOneRun ? 2 : buffer_bytes / kOneRun;
}

/// The least limit of memory that a sort can work in, in bytes.
inline constexpr std::uint64_t kSmallestLimit = 32 << 20;

/// Plans to sort whole fixed records in parts of their order, where the plan may deviate so far,
/// each thread reads and writes on its own, all records are written, none has a page or more, and
/// they are not so many that samples of their runs would not fit. Returns whether it did.
bool consider_parts(plan& p, const sort_options& options, const facts& known);

/// How many records of each of `runs` sorted runs are sampled, to cut the order into parts that fit
/// in memory (a part is smaller than that by one in so many), and the bytes that a sample takes
/// beside its key.
constexpr std::uint64_t samples_of_run(std::uint64_t runs) noexcept { return 8 * runs; }
inline constexpr std::uint64_t kSampleBytes = 48;

/// How many records a thread that selects the first `top` keeps at the most, and the bytes that it
/// needs for each beside the record.
constexpr std::uint64_t selection_candidates(std::uint64_t top) noexcept { return 2 * top + 1024; }
inline constexpr std::uint64_t kCandidateBytes = 64;

/// Bytes that a thread may use for views of the input and small buffers.
inline constexpr std::size_t kThreadScratchBytes = 256 << 10;

}  // namespace isotherm::sort
