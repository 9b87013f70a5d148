// Where the entries go once they are in their final order: into records, of which --unique and
// --top leave some out, or into counts of equal keys.
#pragma once

#include <memory>
#include <span>

#include "device/io.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Takes sorted entries piece by piece. One thread calls it; errors are the job's.
class sink {
 public:
  virtual ~sink() = default;
  /// Gets the memory that the work needs; false after an error.
  virtual bool reserve() = 0;
  virtual void take(std::span<entry> sorted) = 0;
  /// Whether all that is wanted has come.
  virtual bool full() const noexcept = 0;
  /// Waits until all is written, and tells `o` what was.
  virtual void finish(outcome& o) = 0;
};

/// The sink that the options ask for, for `records` entries. All that is passed must outlive it.
std::unique_ptr<sink> make_sink(const context& ctx, const device::file& out, sort_stage write_stage,
                                std::uint64_t records);

}  // namespace isotherm::sort
