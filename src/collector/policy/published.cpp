#include "collector/policy/published.hpp"

#include "base/page.hpp"
#include "collector/policy/page_out.hpp"
#include "collector/policy/threshold.hpp"

namespace isotherm::collector {

namespace {

class published_policy final : public policy {
 public:
  policy_name name() const noexcept override { return policy_name::published; }

  void begin_ageing(const options& chosen) override {
    if (chosen.cold_threshold != asked_threshold_) {
      threshold_ = asked_threshold_ = chosen.cold_threshold;
    }
    expected_bytes_ = 0;
  }

  guides::word age(guides::word w) override {
    const guides::word aged = aged_by_windows(w);
    if (target_by_windows(aged, threshold_)) {
      expected_bytes_ += guides::size_of_class(guides::size_class_of(w));
    }
    return aged;
  }

  /// Used in the last window: always; before that, once in the windows since.
  rate rate_now(guides::word w) const noexcept override {
    return rate_of(1.0 / (1 + guides::inactive_of(w)));
  }

  void weigh(const options&, const memory_state&, const window_statistics&) override {}

  std::optional<heap::kind> target(guides::word w) override {
    return target_by_windows(w, threshold_);
  }
  return_gate::rules returns() const override {
    return_gate::rules all;
    for (unsigned history = 0; history < all.answers.size(); ++history) {
      all.answers[history] = {.history = static_cast<std::uint16_t>(history),
                              .below = return_gate::kAllClasses};
    }
    return all;
  }
  std::uint64_t expected_bytes() const noexcept override { return expected_bytes_; }

  outlook adapt(const options& chosen, std::uint64_t cold_bytes,
                const window_statistics& seen) override {
    const bool watched = was_watched(cold_bytes, cold_bytes_before_);
    cold_bytes_before_ = cold_bytes;
    if (chosen.adaptive_threshold && seen.working_set_pages > 0 && watched) {
      threshold_ = next_threshold(threshold_, seen.promotion_rate, chosen.target_promotion_rate);
    }
    cold_may_leave_ = watched && may_leave(seen.promotion_rate, chosen.target_promotion_rate,
                                           seen.cold_rest_seconds, chosen.min_rest_seconds);
    return {.cold_threshold = threshold_};
  }

  std::uint64_t page_out_bytes(const options& chosen, const window_statistics& seen,
                               double pressure_percent) override {
    if (!cold_may_leave_) return 0;
    const auto next =
        hurts(pressure_percent, seen.cold_rest_seconds, chosen.min_rest_seconds) ? less : more;
    allowance_ = next(allowance_, chosen.page_out_bytes_per_window);
    return allowance_;
  }

 private:
  unsigned threshold_ = 0;        // the controller's
  unsigned asked_threshold_ = 0;  // the option that it last started from
  std::uint64_t expected_bytes_ = 0;
  std::uint64_t cold_bytes_before_ = 0;  // COLD at the end of the last window
  bool cold_may_leave_ = false;
  std::uint64_t allowance_ = ~std::uint64_t{0};  // bytes that the last window had
};

}  // namespace

std::unique_ptr<policy> make_published_policy() { return std::make_unique<published_policy>(); }

}  // namespace isotherm::collector
