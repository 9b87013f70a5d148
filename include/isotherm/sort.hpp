// Sorting files larger than memory by moving keys and pointers instead of records (WiscSort, VLDB
// 2023), with the algorithms it is compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace isotherm {

/// How a file is divided into records.
enum class record_format {
  fixed,  ///< all records have the same size
  klv,    ///< key of fixed size, 4-byte little-endian length, value of that length
  lines,  ///< text lines, ordered by their bytes as `LC_ALL=C sort` orders them
};

enum class sort_algorithm {
  automatic,
  onepass,
  mergepass,
  ems,
  samplesort,
  pmsort,
  pmsort_plus,
  modified_key
};

/// Which reads and writes may be in flight together (WiscSort, figure 2).
enum class sort_concurrency {
  automatic,      ///< no_io_overlap on a device whose reads suffer from writes, else no_sync
  no_sync,        ///< each thread reads and writes on its own; all pools have the same size
  io_overlap,     ///< pools of fixed size; one buffer is written while the next is read
  no_io_overlap,  ///< interference-aware: either reads or writes
};

/// Whether runs of an index map that does not fit in memory are compressed.
enum class sort_compression {
  automatic,  ///< a run is compressed if an emulated device would take longer to write and read the
              ///< bytes saved than coding takes; never on a real device
  on,
  off
};

/// How the bytes of an output are compressed.
enum class sort_packing {
  automatic,  ///< by the suffix of the output's name: .gz, .zst, .lz4; none for all others
  none,
  gzip,
  zstd,
  lz4
};

/// The stages of a sort whose times are measured apart; names as in the papers.
enum class sort_stage {
  run_read,
  run_sort,
  run_other,  ///< copies in memory: keys out of records, and records into their order (ems)
  record_read,
  run_write,
  merge_read,
  merge_other,
  merge_write,
  copy,
  check,
  sync  ///< waiting until the output is on the device
};
inline constexpr unsigned kSortStages = 11;
std::string_view name(sort_stage stage) noexcept;
std::string_view name(sort_algorithm algorithm) noexcept;
/// All algorithms, in the order in which they are listed to users.
std::vector<sort_algorithm> sort_algorithms();
std::string_view name(sort_concurrency concurrency) noexcept;
std::string_view name(sort_compression compression) noexcept;
std::string_view name(sort_packing packing) noexcept;

/// How the text of a key is ordered; all but `text` and `numeric` as GNU sort's option of that name
/// does.
enum class key_kind {
  text,     ///< by its bytes
  numeric,  ///< a decimal number of any length at its front; none counts as 0
  general,  ///< a floating-point number at its front, as strtold() reads it
  human,    ///< a number with a unit: k, M, G, ...
  version,  ///< numbers in the text by their values
  month,    ///< JAN to DEC
  random    ///< by a hash, so that equal keys stay together
};

/// A key of lines: from one place to another, both counted from 1. Without a separator, fields are
/// separated by the empty text between a blank and what is no blank before it. A key of CSV is the
/// contents of a column, without its quotes: last_field is first_field, and first_char is 1; or,
/// with last_field 0, the text from a column to the end of the row.
struct sort_key {
  std::string column{};  ///< CSV: name of the column in the first row; then the places do not count
  unsigned first_field = 1;
  unsigned first_char = 1;
  unsigned last_field = 0;        ///< 0: the key reaches to the end of the line
  unsigned last_char = 0;         ///< 0: the key reaches to the end of the last field
  bool skips_blanks = false;      ///< first_char counts from the first that is no blank
  bool end_skips_blanks = false;  ///< last_char does
  key_kind kind = key_kind::text;
  bool reverse = false;
  bool folds_case = false;       ///< lower-case letters count as upper-case ones
  bool dictionary_only = false;  ///< other characters than blanks, letters and digits do not count
  bool printing_only = false;    ///< characters that do not print do not count
  bool operator==(const sort_key&) const = default;
};

enum class number_kind { natural, integer, real };

/// A key of fixed records that is a number: IEEE 754 if real, a two's complement if an integer.
struct record_number {
  number_kind kind = number_kind::natural;
  unsigned bytes = 8;  ///< 1, 2, 4 or 8; 4 or 8 if real
  bool big_endian = false;
};

/// A directory for temporary files.
struct sort_directory {
  std::string path{};
  std::string device{};  ///< as sort_options::device, of a device that holds neither input nor
                         ///< output; empty: it is on theirs
  bool emulates() const noexcept { return device.starts_with("emu:"); }
};

struct sort_options {
  record_format format = record_format::fixed;
  std::uint64_t record_bytes = 100;       ///< fixed: size of a record
  std::uint64_t key_bytes = 10;           ///< fixed, klv: size of the key
  std::uint64_t key_offset = 0;           ///< fixed: where the key begins in the record
  std::optional<record_number> number{};  ///< fixed: the key is a number, whose size is key_bytes
  std::optional<char> separator{};        ///< lines: between fields; none: they begin with blanks
                                          ///< or, of CSV, with commas
  bool csv = false;              ///< lines: they are rows of CSV (RFC 4180), in which text between
                                 ///< double quotes may hold separators and ends of lines
  std::vector<sort_key> keys{};  ///< lines: in the order of their weight; none: the whole line
  char line_end = '\n';          ///< lines: what ends each of them
  std::uint64_t header_lines = 0;  ///< lines: the first so many stay in front of all others
  std::uint64_t random_seed = 0;   ///< of keys in random order
  bool reverse = false;            ///< largest record first. Lines with equal `keys` are then in
                                   ///< reverse order; the keys have a `reverse` of their own
  bool stable = false;    ///< equal keys keep their order. Fixed and klv always do so (except with
                          ///< samplesort, which this excludes); for lines it turns off the last
                          ///< comparison, of the whole line
  bool unique = false;    ///< of records with equal keys only the first is written
  std::uint64_t top = 0;  ///< write only the first `top` records of the order; 0: all
  bool count = false;     ///< write each key once, with the number of its records: fixed records of
                          ///< key and 8-byte little-endian count; for lines count, tab, key; for
                          ///< CSV rows of count and keys.
                          ///< `top` then means the first keys. Values are never read
  /// Whether all records are written, unchanged.
  bool writes_all() const noexcept { return !unique && !count && top == 0; }

  std::uint64_t memory_bytes = 0;  ///< limit of this process's resident memory; 0: half of what is
                                   ///< available
  std::string temporary_directory{};  ///< for runs; empty, and no others: the output's directory
  std::vector<sort_directory> temporary_directories{};  ///< others: each run goes to the fastest
                                                        ///< that has room, copies to the roomiest
  std::string device{};  ///< "emu:..." emulates a device; a path names a profile written by `device
                         ///< probe`; empty: neither
  bool emulates() const noexcept { return device.starts_with("emu:"); }
  /// Whether the device of a temporary directory is emulated.
  bool emulates_runs() const noexcept {
    for (const sort_directory& each : temporary_directories) {
      if (each.emulates()) return true;
    }
    return false;
  }
  sort_algorithm algorithm = sort_algorithm::automatic;
  sort_concurrency concurrency = sort_concurrency::automatic;
  sort_compression compression = sort_compression::automatic;
  sort_packing packing = sort_packing::automatic;
  bool unpack = true;          ///< decompress inputs that begin as gzip, zstd or lz4 files do
  unsigned read_threads = 0;   ///< 0: by the device's numbers; without them one per processor
  unsigned write_threads = 0;  ///< as above
  unsigned sort_threads = 0;   ///< 0: one per processor that affinity and
                               ///< control groups allow
  bool durable = true;         ///< the output is on the device before it gets its name
  bool check = false;          ///< read the output again: order, count and checksum

  /// Called at the beginning of each stage (with zeros) and as it progresses, by one thread at a
  /// time. `done` and `total` have the same unit, which depends on the stage.
  std::function<void(sort_stage, std::uint64_t done, std::uint64_t total)> progress{};
  /// When a stop is requested, the sort ends soon, cleans up, and returns an error of code EINTR.
  std::stop_token stop{};
};

struct stage_report {
  sort_stage stage;
  double seconds = 0;            ///< wall-clock time of the stage; stages may overlap
  std::uint64_t bytes_read = 0;  ///< by calls; of a mapping or an emulated device, the bytes that
                                 ///< were used
  std::uint64_t bytes_written = 0;
  double device_share = 0;  ///< share of the device's bandwidth for such accesses; 0: not known
};

/// A directory that takes runs.
struct sort_place {
  std::string directory;
  std::string device;       ///< the name of its device's numbers; empty: they are not known
  std::uint64_t bytes = 0;  ///< of runs, those that were merged into others included
  double seconds = 0;       ///< to write and to read them, by the numbers of the device; of a real
                            ///< one past the page cache; 0: they are not known
  bool is_emulated() const noexcept { return device.starts_with("emu:"); }
};

struct sort_report {
  /// The algorithm that ran: "modified-key" for OnePass that gathered its values by scans, "copy"
  /// for input that was in order already, "reversed copy" for input in reverse order, "parts" for
  /// whole records sorted in parts of the order, "selection" for the first records of `top`, picked
  /// in one pass over the input.
  std::string algorithm;
  std::string concurrency;
  std::string values;  ///< how values were read: "by random reads", "by scans", "with their keys"
                       ///< or, where keys are counted, "not at all"
  std::string device;  ///< of input and output; "emu:..." if it was emulated
  bool is_emulated() const noexcept {
    for (const sort_place& each : places) {
      if (each.is_emulated()) return true;
    }
    return device.starts_with("emu:");
  }
  std::uint64_t records = 0;  ///< of the input
  std::uint64_t records_written = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint64_t memory_limit_bytes = 0;
  std::uint64_t runs = 0;                     ///< temporary runs written, over all levels
  std::uint64_t runs_compressed = 0;          ///< how many of `runs`
  std::uint64_t index_map_bytes = 0;          ///< of the index map's runs, uncompressed
  std::uint64_t index_map_bytes_written = 0;  ///< of the index map's runs, as written
  double seconds = 0;
  double predicted_seconds = 0;  ///< the cost model's prediction; 0: the device is not emulated
  unsigned read_threads = 0, write_threads = 0, sort_threads = 0;
  std::vector<sort_place> places;    ///< those that runs were written to
  std::vector<stage_report> stages;  ///< those that took part
};

/// Sorts `input` into `output`, which must be another file. The output gets its name only when it
/// is complete: on any error nothing is left behind and an existing file of that name is untouched.
/// Standard input and output ("-"), other descriptors (/dev/fd/N) and files of /proc are copied
/// through a file without a name. It lies in the roomiest temporary directory; without one, an
/// input's copy lies in the output's directory, and an output's in $TMPDIR or /tmp.
base::result<sort_report> sort_file(const std::string& input, const std::string& output,
                                    const sort_options& options);
/// Sorts all `inputs` together, which must not be empty. Several are first copied, one after the
/// other, into a file without a name; the output may then be one of them.
base::result<sort_report> sort_files(const std::vector<std::string>& inputs,
                                     const std::string& output, const sort_options& options);

/// A record that is out of order.
struct disorder {
  std::uint64_t number = 0;  ///< of the record in its input, from 1
  std::vector<std::byte> record;
};

/// Looks in `input` for the first record that should go before its predecessor or, with the option
/// `unique`, has the same key. Nothing if there is none.
base::result<std::optional<disorder>> find_disorder(const std::string& input,
                                                    const sort_options& options);

/// Predicted time of one algorithm.
struct sort_prediction {
  sort_algorithm algorithm;
  sort_algorithm taken;  ///< the algorithm that would run: `algorithm`, or what `automatic` chooses
  double seconds = 0;
  std::string obstacle;              ///< not empty: why it cannot run here
  std::string runs;                  ///< not empty: whether it would compress its runs, and why
  std::vector<sort_place> places{};  ///< that it would write runs to
};

/// The time of each algorithm by the cost model, cheapest first; those that cannot run come last.
/// A device that is not emulated has one answer: the directories to which the runs of
/// `options.algorithm` go, without a time. It needs a temporary directory whose device is named.
/// Refuses what sort_file() refuses.
base::result<std::vector<sort_prediction>> explain_sort(const std::string& input,
                                                        const sort_options& options);

}  // namespace isotherm
