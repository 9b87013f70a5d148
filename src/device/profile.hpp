// What is known of a device: measured bandwidth, as JSON on disk, and the BRAID letters that follow
// from the numbers (WiscSort 2.3).
#pragma once

#include <string>
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

/// The same device past the page cache.
struct direct_profile {
  std::string way;  ///< how it was reached, or why it was not
  std::vector<sized_curve> sequential_read;
  std::vector<sized_curve> random_read;
  curve write;
  std::vector<interference_point> interference;
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
  std::vector<sized_curve> mapped_read_sizes;      ///< the same through a mapping; older profiles
                                                   ///< have none
  direct_profile direct;
};

std::string to_json(const profile& p);
base::result<profile> parse_profile(const std::string& json);
/// Reads the file that `device probe -o` wrote.
base::result<profile> load_profile(const std::string& path);

/// How much each writer slows reads, beyond the share of the device's time that writes take: the
/// mean over what was measured, as model::interference means it. `write`: of writers alone.
double interference_of(const std::vector<interference_point>& beside, const curve& write);
inline double interference_of(const profile& p) { return interference_of(p.interference, p.write); }

/// The numbers that plans and predictions need.
model as_model(const profile& p);

/// One property: whether the device has it, and the sentence with the numbers behind it.
struct braid_letter {
  char letter;
  bool holds;
  std::string why;
};
/// By what was measured past the page cache, where it was: the device's own; else by what comes
/// through it.
std::vector<braid_letter> braid(const profile& p);

}  // namespace isotherm::device
