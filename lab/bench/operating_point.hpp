// The operating point of a run: how many requests a record gets in a window, the share of the
// records that are used in one, and the best page utilization that a fixed order of the records
// could have. Expected values of the distribution: nothing is simulated.
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "lab/bench/options.hpp"
#include "lab/bench/window_sample.hpp"

namespace isotherm::lab {

struct operating_point {
  double requests = 0;             ///< in a window
  double requests_per_record = 0;  ///< in a window
  double used_share = 0;           ///< expected, of the records, 0..1
  /// Upper bound of page utilization for any order of the records that stays as it is through the
  /// window: expected bytes of the used records over expected bytes of the touched pages, 0..1.
  /// Exact where pages hold whole records; else no order reaches it, for records lie on two pages.
  double best_utilization = 0;
};

/// Computes the operating point of `requests` requests in a window (>= 0). Takes time and, with
/// `zipfian`, 8 bytes for each key: a second for ten million. Fails, with the reason, for workloads
/// that insert, delete, scan or count, and for records that expire or differ in size.
base::result<operating_point> find_operating_point(const bench_plan& plan, double requests);

/// Returns the operating point of the requests that a window had; nothing where
/// find_operating_point() fails.
std::optional<operating_point> point_of(const bench_plan& plan, const window_sample& sample);

/// Returns the line that stands before a run: the operating point at the asked rate, or why there
/// is none yet.
std::string announcement(const bench_plan& plan);

}  // namespace isotherm::lab
