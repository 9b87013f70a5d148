// Swap space that a run makes, in a file or in compressed memory.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "lab/backends/system/system_changes.hpp"

namespace isotherm::lab {

/// The space to which anonymous pages go.
enum class swap_place : unsigned char {
  file,   ///< a file, which the run makes
  zram,   ///< compressed memory, which the run makes
  system  ///< the swap space that the system has
};
constexpr const char* name(swap_place place) noexcept {
  return place == swap_place::file ? "file" : place == swap_place::zram ? "zram" : "system";
}

/// Swap space in use. It goes when the changes are undone.
class swap_area {
 public:
  /// Takes `bytes` of swap space into use; a file lies in `folder`. Errors: it needs root, room on
  /// a disk, or zram in the kernel; the system has no swap space.
  static base::result<swap_area> make(system_changes& changes, swap_place place,
                                      const std::string& folder, std::uint64_t bytes);

  /// Returns the bytes of DRAM that the space takes; control groups are not charged for them.
  std::uint64_t memory_bytes() const;

 private:
  explicit swap_area(std::string status) : status_(std::move(status)) {}
  std::string status_;  ///< the file that tells a zram device's memory; empty: there is none
};

}  // namespace isotherm::lab
