// What the parts of one sort work with.
#pragma once

#include "sort/input/records.hpp"
#include "sort/input/source.hpp"
#include "sort/job/job.hpp"
#include "sort/plan/plan.hpp"

namespace isotherm::sort {

/// Refers to what its maker owns, which must outlive all to whom it is passed.
struct context {
  sort::job& job;
  const sort::plan& plan;
  source& input;
  const record_layout& layout;

  /// The same sort, where its records stand in another file.
  context reading(source& other) const noexcept { return {job, plan, other, layout}; }
};

}  // namespace isotherm::sort
