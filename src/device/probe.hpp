// Measures a directory's device: the microbenchmark behind the thread-pool controller (WiscSort
// 3.4, 3.8), through the same I/O layer that sorts use, and through an emulated device if one is
// named, whose parameters must then come back. Reads and writes go through the page cache (mmap and
// calls), as sorts go; where the file system has O_DIRECT also past it, through io_uring.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "device/emulation.hpp"
#include "device/profile.hpp"

namespace isotherm::device {

struct probe_options {
  std::string emulated{};                ///< "emu:..."; empty: the device itself
  std::uint64_t file_bytes = 256 << 20;  ///< size of the file that is read; removed afterwards
  double sample_seconds = 0.1;           ///< shortest sample; a point is the median of five
  std::function<void(std::string_view)> progress{};  ///< told what is measured next
  emulation_clock clock = emulation_clock::real;     ///< of an emulated device: `account` measures
                                                     ///< its own account, without files or threads
};

/// Measures the device under `directory`, which needs twice `file_bytes` of free space.
base::result<profile> probe(const std::string& directory, const probe_options& options);

}  // namespace isotherm::device
