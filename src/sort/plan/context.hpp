// The objects that the parts of one sort work with.
#pragma once

#include "sort/input/records.hpp"
#include "sort/input/source.hpp"
#include "sort/job/job.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// References to the caller's objects, which must outlive all uses of the context.
struct context {
  sort::job& job;
  const sort::plan& plan;
  source& input;
  const record_layout& layout;

  /// The same context, but for records that lie in another file.
  context reading(source& other) const noexcept { return {job, plan, other, layout}; }
};

}  // namespace isotherm::sort
