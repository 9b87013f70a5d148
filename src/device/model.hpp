// A storage device as numbers (the BRAID model, WiscSort 2.3), and its emulation: threads that
// access a file through a `stream` are held back until a device with these numbers would have
// served them. All streams of one device share its bandwidth.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/atomic.hpp"
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
  unsigned other_readers = 0;      ///< threads of somebody else, which never rest: they take an
  unsigned other_writers = 0;      ///< even share of their direction's bandwidth

  /// What some accesses cost.
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
/// ",writers=N": somebody else uses the device all the while. An "emu:" in front is ignored.
base::result<model> preset(const std::string& name);

/// Whether an emulated device makes threads wait, or only keeps the account of when it would have
/// served them: each stream then has a clock of its own, that starts at 0 and that charge() moves.
enum class emulation_clock { real, account };

/// The shared state of one emulated device. Thread-safe.
class emulation {
 public:
  explicit emulation(model m, emulation_clock clock = emulation_clock::real)
      : model_(std::move(m)), clock_(clock) {}
  const device::model& parameters() const noexcept { return model_; }

 private:
  friend class crew;
  friend class stream;
  base::atomic<unsigned>& open(access kind) noexcept {
    return kind == access::write ? writers_ : readers_;
  }
  device::model model_;
  emulation_clock clock_;
  base::atomic<unsigned> readers_{0};  // streams open; counts only, so relaxed
  base::atomic<unsigned> writers_{0};
  std::mutex lock_;          // guards next_free_ns_
  double next_free_ns_ = 0;  // when the device has served all that it was asked
};

/// Threads that do a piece of work on a device together: they count as so many streams from before
/// the first of them begins until all have ended. Threads that this machine starts one after the
/// other, having fewer processors than the device has streams, would else be charged as few.
class crew {
 public:
  crew(emulation* device, access kind, unsigned streams) noexcept;
  ~crew();
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;

 private:
  friend class stream;
  emulation* device_;
  access kind_;
  unsigned streams_;
};

/// One thread's use of a device for one kind of access. With a null device every call does nothing:
/// a real device needs no model.
class stream {
 public:
  /// By itself: counts while it is open.
  stream(emulation* device, access kind) noexcept;
  /// One of a crew's, which must outlive it.
  explicit stream(const crew& of) noexcept;
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Call before touching the data: the time of the access itself counts as the device's.
  void begin() noexcept;
  /// Waits until the device would have served `accesses` of `bytes_each`, asked for at begin();
  /// strided reads lie `stride` bytes apart.
  void charge(std::uint64_t accesses, std::uint64_t bytes_each, std::uint64_t stride = 0) noexcept;
  /// When the last access was served, by this stream's clock.
  double served_ns() const noexcept { return start_ns_; }

 private:
  void wait_until(double ns) noexcept;
  emulation* device_;
  access kind_;
  bool counts_;  // as a stream of its own
  double start_ns_ = 0;
  double overslept_ns_ = 0;  // the clock's, not the device's: given back at the next access
};

}  // namespace isotherm::device
