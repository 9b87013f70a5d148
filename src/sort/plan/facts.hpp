// The facts by which a sort is planned, predicted, chosen and checked. They are gathered once: no
// plan reads the input or the limits of the process again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "device/model.hpp"
#include "sort/coding/policy.hpp"
#include "sort/plan/devices.hpp"

namespace isotherm::sort {

struct input_facts {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;  ///< exact for fixed records, otherwise extrapolated from a sample
  double record_bytes = 100;  ///< mean; at least 1
};

/// Speed of this processor, as measure_processor() finds it.
struct processor_speed {
  double sort_ns = 0;          ///< to sort one entry, on one thread
  double merge_entry_ns = 0;   ///< to merge one entry of an index map
  double merge_record_ns = 0;  ///< to merge one whole record
  coding_cost coding;          ///< of a run of random keys
  double call_ns = 0;          ///< of a call that reads a record
};

struct facts {
  input_facts input;
  const device::model* device = nullptr;         ///< null: its numbers are not known
  std::span<const run_directory> directories{};  ///< those for runs, the fastest first
  processor_speed processor{};                   ///< zeros: the device is not emulated
  unsigned processors = 1;
  std::uint64_t available_bytes = 0;                   ///< memory that the process may still take
  std::optional<std::uint64_t> address_space_bytes{};  ///< nullopt: no limit

  /// The device whose numbers give the time of an access; null if it is not emulated. A real
  /// device's numbers do not include the page cache.
  const device::model* emulated() const noexcept {
    return device != nullptr && device->emulated() ? device : nullptr;
  }
};

/// Adds to `input` and `device` (may be null) the processors, memory and address space that this
/// process has now.
facts facts_of(const input_facts& input, const device::model* device);

}  // namespace isotherm::sort
