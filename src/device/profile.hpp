// The profile of a device: its measured bandwidth, as JSON on disk, and the BRAID letters that
// follow from the numbers (WiscSort 2.3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "device/model.hpp"

namespace isotherm::device {

/// Bandwidth of random reads of one size, over the number of streams.
struct sized_curve {
  std::uint64_t access_bytes = 0;
  curve bandwidth;
};

/// Reads with as many streams as they want, beside writers.
struct interference_point {
  unsigned writers = 0;
  double read_bytes_per_s = 0;
  double write_bytes_per_s = 0;  ///< of the writers, at the same time
};

/// The profile of the device past the page cache.
struct direct_profile {
  std::string way;  ///< how it was reached, or why it was not
  std::vector<sized_curve> sequential_read;
  std::vector<sized_curve> random_read;
  curve write;
  std::vector<interference_point> interference;
};

/// Bandwidths that the letters compare, sampled in turn: one of each in every round, so that what
/// the machine does besides changes all of them alike. Past the page cache if the device was
/// reached so, else through it. All have as many rounds; none: they were not measured.
struct letter_rounds {
  std::vector<double> sequential;    ///< reads, with as many threads as they want
  std::vector<double> random;        ///< of 4096 bytes past the page cache, else 256
  std::vector<double> random_small;  ///< of 64 bytes; through the page cache only
  std::vector<double> random_page;   ///< of 4096 bytes; through the page cache only
  std::vector<double> write;         ///< with as many threads as writes want
  std::vector<double> write_most;    ///< with the most that were measured
  std::vector<double> read_alone;    ///< with as many threads as beside writers
  std::vector<double> read_beside;   ///< beside the most writers that were measured
};

/// A measured device. Bandwidths in useful bytes a second.
struct profile {
  std::string path;    ///< the directory that was probed
  std::string device;  ///< "emu:..." if the device was emulated, else "measured"
  curve sequential_read;
  std::vector<sized_curve> random_read;  ///< by size, ascending
  sized_curve strided_read;              ///< 10-byte keys of 100-byte records
  curve write;
  std::vector<interference_point> interference;    ///< by writers, ascending, from 0
  std::vector<sized_curve> sequential_read_sizes;  ///< by size, ascending; through calls
  std::vector<sized_curve> mapped_read_sizes;      ///< the same through a mapping
  direct_profile direct;
  letter_rounds letters;
};

std::string to_json(const profile& p);
base::result<profile> parse_profile(const std::string& json);
/// Reads the file that `device probe -o` wrote.
base::result<profile> load_profile(const std::string& path);

/// How much each writer slows reads, beyond the share of the device's time that writes take: the
/// mean over what was measured, as model::interference means it. `write`: of writers alone.
double interference_of(const std::vector<interference_point>& beside, const curve& write);
/// By what was measured past the page cache, where it was.
double interference_of(const profile& p);

/// The numbers that plans and predictions need. Interference is only taken for what it says where
/// the letter I holds.
model as_model(const profile& p);
/// The same of the device itself, past the page cache, where it was reached so.
model model_past_the_cache(const profile& p);

enum class verdict : std::uint8_t { no, unsure, yes };
std::string_view name(verdict v) noexcept;

/// Whether the median of `ratios` is above `limit` by more than twice what the middle half of them
/// spans; `no` if it is as far below, `unsure` between. Not empty.
verdict above(std::vector<double> ratios, double limit);

/// One property: whether the device has it, and the sentence with the numbers behind it.
struct braid_letter {
  char letter;
  verdict holds;
  std::string why;
};
/// By what was measured past the page cache, where it was: the device's own; else by what comes
/// through it. None if the letters' rounds were not measured.
std::vector<braid_letter> braid(const profile& p);

}  // namespace isotherm::device
