// What decides at the end of a window, or before the first.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/random.hpp"
#include "collector/policy/temperature.hpp"
#include "policy.hpp"

namespace isotherm::policies {
namespace {

/// A missed object is read into DRAM and stays there until the window ends; so many as are missed
/// in a window are always reserved room.
class rates final : public policy {
 public:
  rates(std::uint32_t objects, std::uint32_t room)
      : rate_(objects), is_used_(objects), at_(objects), room_(room) {}
  std::string_view name() const noexcept override { return "rates"; }

  bool use(std::uint32_t object) override {
    is_used_[object] = 1;
    if (at_[object] != place::cold) return true;
    at_[object] = place::missed;
    ++misses_;
    return false;
  }

  void end_window() override {
    const auto used = static_cast<std::uint64_t>(std::ranges::count(is_used_, 1));
    memory_.end_window();
    objects_by_rate kept{};
    for (std::uint32_t object = 0; object < rate_.size(); ++object) {
      if (at_[object] == place::cold) continue;
      auto& rate = rate_[object];
      if (at_[object] == place::missed) rate = memory_.looked_at(rate);
      const auto random = static_cast<std::uint16_t>(random_());
      rate = is_used_[object] != 0 ? memory_.used(rate, random) : memory_.idle(rate, random);
      ++kept[rate];
      is_used_[object] = 0;
    }
    memory_.note(used, misses_);
    reserve_ = reserve_ > 0 ? (3 * reserve_ + misses_) / 4 : misses_;
    misses_ = 0;
    let_go(kept, room_ > reserve_ ? room_ - reserve_ : 0);
  }

 private:
  enum class place : std::uint8_t { cold, hot, missed };
  using objects_by_rate = std::array<std::uint64_t, collector::kRates>;

  void let_go(const objects_by_rate& kept, std::uint64_t budget) {
    const unsigned cut = collector::cut_for(kept, budget);
    std::uint64_t left = budget;  // of it, what objects of the rate below the cut may have
    for (unsigned r = cut; r < collector::kRates; ++r) left -= kept[r];
    for (std::uint32_t object = 0; object < rate_.size(); ++object) {
      if (at_[object] == place::cold) continue;
      const bool stays = rate_[object] >= cut || (rate_[object] + 1u == cut && left > 0 && left--);
      at_[object] = stays ? place::hot : place::cold;
      if (!stays) rate_[object] = memory_.left_alone(rate_[object]);
    }
  }

  collector::use_memory memory_;
  std::vector<collector::rate> rate_;
  std::vector<std::uint8_t> is_used_;
  std::vector<place> at_;
  std::uint64_t room_;
  std::uint64_t misses_ = 0, reserve_ = 0;
  base::random random_{1};
};

class best_static final : public policy {
 public:
  best_static(const std::vector<std::uint64_t>& popularity, std::uint32_t room)
      : is_kept_(popularity.size()) {
    std::vector<std::uint32_t> order(popularity.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::nth_element(order, order.begin() + room, std::greater(),
                             [&](std::uint32_t object) { return popularity[object]; });
    for (std::uint32_t i = 0; i < room; ++i) is_kept_[order[i]] = true;
  }
  std::string_view name() const noexcept override { return "best static"; }
  bool use(std::uint32_t object) override { return is_kept_[object]; }

 private:
  std::vector<bool> is_kept_;
};

}  // namespace

std::unique_ptr<policy> make_rates(std::uint32_t objects, std::uint32_t room) {
  return std::make_unique<rates>(objects, room);
}
std::unique_ptr<policy> make_best_static(const std::vector<std::uint64_t>& popularity,
                                         std::uint32_t room) {
  return std::make_unique<best_static>(popularity, room);
}

}  // namespace isotherm::policies
