#include "lab/bench/operating_point.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/page.hpp"
#include "lab/workload/popularity.hpp"

namespace isotherm::lab {
namespace {

/// Packs records side by side, in order of popularity, and adds up what is used of them and how
/// many of their pages are touched.
///
/// A page stays untouched with the product of its records' chances to stay unused. Let weight be
/// -ln of such a chance. A record of which a page holds a part adds its whole weight there; the
/// packing adds that part of the weight alone, so that it never counts more touched pages than an
/// order has. Touched pages are then the sum of 1 - exp(-weight of the page), a concave function:
/// of all ways to share out the weights the packing by descending weight makes it least.
class packed_pages {
 public:
  explicit packed_pages(double records_per_page) noexcept
      : records_per_page_(records_per_page), room_(records_per_page) {}

  /// Adds a record that is used with a chance of 1 - exp(-weight).
  void add(double weight) noexcept {
    used_ -= std::expm1(-weight);
    double rest = 1;
    while (rest > room_) {
      page_weight_ += weight * room_;
      rest -= room_;
      end_page();
    }
    page_weight_ += weight * rest;
    room_ -= rest;
  }
  void end_page() noexcept {
    touched_ -= std::expm1(-page_weight_);
    page_weight_ = 0;
    room_ = records_per_page_;
  }

  double used_records() const noexcept { return used_; }
  double touched_pages() const noexcept { return touched_; }

 private:
  double records_per_page_;
  double room_;  ///< for records, in the page that is filled
  double page_weight_ = 0;
  double used_ = 0, touched_ = 0;
};

/// Uses of records by a request, in the mean.
double uses_of(const workload::mix& shares) noexcept {
  return (100 + shares.multiget * (workload::kMultiget - 1.0)) / 100;
}

/// Every thread uses a run of neighbours, from a place that is drawn: the chance of a record to lie
/// in none of the runs. An order by key fills its pages with used records.
operating_point of_sequential(const bench_plan& plan, double uses) noexcept {
  const double keys = static_cast<double>(plan.load.keys);
  const double run_share = std::min(uses / plan.load.threads / keys, 1.0);
  return {.used_share = 1 - std::pow(1 - run_share, plan.load.threads), .best_utilization = 1};
}

operating_point of_drawn(const bench_plan& plan, double uses) {
  const workload::popularity popular(plan.load.keys_by, plan.load.keys);
  const double record_bytes = static_cast<double>(plan.format.object_bytes());
  packed_pages pages(static_cast<double>(base::kPageBytes) / record_bytes);
  for (std::uint64_t rank = 0; rank < plan.load.keys; ++rank) {
    pages.add(-uses * std::log1p(-popular.chance_of(rank)));
  }
  pages.end_page();
  const double touched_bytes = pages.touched_pages() * static_cast<double>(base::kPageBytes);
  const double utilization =
      touched_bytes > 0 ? pages.used_records() * record_bytes / touched_bytes : 0;
  return {.used_share = pages.used_records() / static_cast<double>(plan.load.keys),
          .best_utilization = std::min(utilization, 1.0)};
}

/// Fails where it is not known which records there are, and how large each is.
base::result<void> check_records(const bench_plan& plan) {
  const workload::mix& shares = plan.load.workload.shares;
  if (shares.insert + shares.remove + shares.scan + shares.incr > 0) {
    return std::unexpected(base::error{"the workload inserts, deletes, scans or counts"});
  }
  if (plan.format.ttl_ms > 0) return std::unexpected(base::error{"the records expire"});
  if (plan.format.sizes != workload::value_sizes::constant) {
    return std::unexpected(base::error{"the records differ in size"});
  }
  return {};
}

}  // namespace

base::result<operating_point> find_operating_point(const bench_plan& plan, double requests) {
  if (auto known = check_records(plan); !known) return std::unexpected(known.error());
  const double uses = requests * uses_of(plan.load.workload.shares);
  operating_point point = plan.load.keys_by.which == workload::distribution::sequential
                              ? of_sequential(plan, uses)
                              : of_drawn(plan, uses);
  point.requests = requests;
  point.requests_per_record = requests / static_cast<double>(plan.load.keys);
  return point;
}

std::optional<operating_point> point_of(const bench_plan& plan, const window_sample& sample) {
  const auto found = find_operating_point(plan, static_cast<double>(sample.driven.operations));
  return found ? std::optional(*found) : std::nullopt;
}

std::string announcement(const bench_plan& plan) {
  constexpr const char* kLabel = "operating point ";
  if (const auto known = check_records(plan); !known) {
    return fmt::format("{}is not computed: {}\n", kLabel, known.error().message);
  }
  if (plan.load.rate == 0) {
    return fmt::format("{}follows from the measured rate, at the end (--rate 0)\n", kLabel);
  }
  const double window = plan.asked.collector.window_seconds;
  const operating_point found = *find_operating_point(plan, plan.load.rate * window);
  return fmt::format(
      "{}{:.3g} requests a record and window of {:g} s; expected: {:.1f}% of the records used in a "
      "window, page utilization at most {:.1f}% in any fixed order\n",
      kLabel, found.requests_per_record, window, found.used_share * 100,
      found.best_utilization * 100);
}

}  // namespace isotherm::lab
