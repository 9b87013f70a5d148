#include "placement/hyper_watermark.hpp"

#include <algorithm>

namespace isotherm::placement {

namespace {

// Strain is answered in large steps and abundance in small ones (SINLK, 4.3.1). The paper gives no
// sizes.
constexpr double kTightenTo = 0.75, kLoosenTo = 1.05, kLoosenBy = 0.05, kLeastHot = 0.001;

unsigned one_less(unsigned level, const level_bounds& levels) noexcept {
  const unsigned now = std::min(level, levels.most);
  return std::max(now > 0 ? now - 1 : 0, levels.least);
}

}  // namespace

hyper_watermark::order hyper_watermark::check(const fast_memory_state& seen) noexcept {
  order next = order::go_on;
  if (is_strained_ && seen.usage <= at_.high && (seen.is_done || seen.usage < at_.low)) {
    adjusted_ = before_strain_;
    is_strained_ = false;
    next = order::resume;
  } else if (seen.usage > at_.high && (!is_strained_ || seen.is_done)) {
    if (!is_strained_) before_strain_ = adjusted_;
    is_strained_ = true;
    tighten(seen.levels);
    next = order::demote_now;
  } else if (!is_strained_ && seen.usage < at_.low) {
    loosen(seen.levels);
  } else if (!is_strained_ && next == order::go_on) {
    settle(seen.levels);
  }
  now_ = apply(seen.share);
  return next;
}

/// The size of fast memory says where the shares begin (SINLK, 4.2.3, footnote): as much is hot as
/// fits, and the rest is cold.
parameters hyper_watermark::apply(double fast_share) const noexcept {
  // A share may be tiny because few leaves were used yet, and these are hot: that nothing is hot
  // takes a lack of room.
  const bool has_no_room = adjusted_.hot < kLeastHot || fast_share <= 0;
  const double hot = has_no_room ? 0 : std::min(fast_share * adjusted_.hot, 1.0);
  return {.hot_share = hot,
          .cold_share = (1 - hot) * adjusted_.cold,
          .fast_levels = adjusted_.fast_levels,
          .demote_level = adjusted_.demote_level};
}

void hyper_watermark::tighten(const level_bounds& levels) noexcept {
  adjusted_.hot *= kTightenTo;
  adjusted_.cold = 1;
  adjusted_.fast_levels = one_less(adjusted_.fast_levels, levels);
  adjusted_.demote_level = one_less(adjusted_.demote_level, levels);
}

/// Between the marks: what abundance has changed is taken back, so that what is used more now takes
/// the place of what is used less.
void hyper_watermark::settle(const level_bounds& levels) noexcept {
  adjusted_.hot = std::max(adjusted_.hot / kLoosenTo, std::min(adjusted_.hot, 1.0));
  adjusted_.cold = std::min(adjusted_.cold + kLoosenBy, 1.0);
  adjusted_.demote_level = one_less(adjusted_.demote_level, levels);
}

void hyper_watermark::loosen(const level_bounds& levels) noexcept {
  const auto more = [&levels](unsigned level) {
    return std::min(level, levels.most) + (level < levels.most ? 1 : 0);
  };
  if (now_.hot_share < 1) adjusted_.hot *= kLoosenTo;
  adjusted_.cold = std::max(adjusted_.cold - kLoosenBy, 0.0);
  adjusted_.fast_levels = more(adjusted_.fast_levels);
  adjusted_.demote_level = more(adjusted_.demote_level);
}

}  // namespace isotherm::placement
