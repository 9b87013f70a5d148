// Emulated devices: threads that access a file through a `stream` (device/stream.hpp) are held back
// until a device with the model's numbers would have served them. All streams of one device share
// its bandwidth.
#pragma once

#include <mutex>
#include <utility>

#include "base/atomic.hpp"
#include "device/model.hpp"

namespace isotherm::device {

/// Whether an emulated device makes threads wait, or only keeps the account of when it would have
/// served them: each stream then has a clock of its own, that starts at 0 and that accesses move.
enum class emulation_clock { real, account };

/// The shared state of one emulated device. Thread-safe.
class emulation {
 public:
  explicit emulation(model m, emulation_clock clock = emulation_clock::real)
      : model_(std::move(m)), clock_(clock) {}
  const device::model& parameters() const noexcept { return model_; }

 private:
  friend class stream_group;
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

}  // namespace isotherm::device
