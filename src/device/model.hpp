// A storage device as numbers (the BRAID model, WiscSort 2.3), and what accesses cost on it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace isotherm::device {

/// How a thread touches the device. Strided reads are small and go through the file in its order.
enum class access { sequential_read, strided_read, random_read, write };

/// One measured or modelled point: what `streams` threads reach together.
struct curve_point {
  unsigned streams = 1;
  double bytes_per_s = 0;
  double spread = 0;  ///< of what was measured: (highest - lowest sample) / median
};

/// Bandwidth over concurrency: linear between points, flat beyond the last.
using curve = std::vector<curve_point>;

/// Bandwidth of `c` at `streams`; 0 for an empty curve.
double at(const curve& c, unsigned streams) noexcept;
/// The smallest number of streams that reaches 95% of the curve's peak.
unsigned best_streams(const curve& c) noexcept;

/// Parameters of an emulated device.
struct model {
  std::string name;  ///< as the user wrote it, with "emu:"; of a profile, what it is of
  bool emulated() const noexcept { return name.starts_with("emu:"); }
  curve sequential_read;
  curve random_read;  ///< for accesses of at least one granule
  curve write;
  unsigned granule_bytes = 64;     ///< the device moves whole granules
  double random_line_ns = 0;       ///< added to each 64 B line of a random read, per stream
  double write_line_ns = 0;        ///< added to each 64 B line of a write, per stream
  double interference = 0;         ///< n writers divide the bandwidth of reads by 1 + n * this ...
  double interference_most = 1e9;  ///< ... but by no more than this
  unsigned other_readers = 0;      ///< threads of other programs, which never rest: they take an
  unsigned other_writers = 0;      ///< even share of their direction's bandwidth

  /// The cost of some accesses.
  struct cost {
    double device_ns;  ///< of the device, which all streams share
    double line_ns;    ///< of this stream alone, while others are served
  };
  /// The cost of `accesses` of `bytes` each, while `streams` threads access the device in the same
  /// direction and `writers` write. `stride` is the distance between strided reads; 0: `bytes`.
  cost cost_of(access kind, unsigned streams, std::uint64_t accesses, std::uint64_t bytes,
               std::uint64_t stride, unsigned writers) const noexcept;

  /// Bandwidth in useful bytes/s that `streams` threads reach together with accesses of
  /// `access_bytes` beside `writers` writing threads.
  double bandwidth(access kind, unsigned streams, std::uint64_t access_bytes, unsigned writers = 0,
                   std::uint64_t stride = 0) const noexcept;
};

/// The model named "pmem", "bd", "brd", "bard", "cxl-dram" or "cmm-h", optionally "@scale": "@1/8"
/// or "@0.125" is a device of an eighth of the bandwidth; then optionally ",readers=N" and
/// ",writers=N": other programs use the device all the while. An "emu:" in front is ignored.
base::result<model> preset(const std::string& name);

}  // namespace isotherm::device
