// A sink takes entries in their final order and writes records, without those that --unique and
// --top leave out, or counts of equal keys.
#pragma once

#include <memory>
#include <span>

#include "os/files/file.hpp"
#include "sort/job/outcome.hpp"
#include "sort/plan/context.hpp"

namespace isotherm::sort {

/// Takes sorted entries piece by piece. For one thread; errors become the job's.
class sink {
 public:
  virtual ~sink() = default;
  /// Allocates the memory that the work needs; false after an error.
  virtual bool reserve() = 0;
  virtual void take(std::span<entry> sorted) = 0;
  /// Whether all that the options ask for has been taken.
  virtual bool full() const noexcept = 0;
  /// Waits until all is written, and reports in `o` how much.
  virtual void finish(outcome& o) = 0;
};

/// The sink that the options ask for, for up to `records` entries. The arguments must outlive it.
std::unique_ptr<sink> make_sink(const context& ctx, const os::file& out, sort_stage write_stage,
                                std::uint64_t records);

}  // namespace isotherm::sort
