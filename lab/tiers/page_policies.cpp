#include "lab/tiers/page_policies.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/random.hpp"
#include "placement/access_histogram.hpp"

namespace isotherm::lab {

using placement::tier;

void page_tiers::add(tier where) noexcept {
  all_[known_++].is_slow.store_relaxed(where == tier::slow);
  if (where == tier::fast) fast_.store_relaxed(fast_pages() + 1);
}

void page_tiers::move(std::uint64_t page, tier to) {
  emulated_page& moved = all_[page];
  if (moved.is_slow.load_relaxed() == (to == tier::slow)) return;
  // Copies as much as a move does; not the page itself, which may be one that the arena left out.
  std::memcpy(copied_.data(), copy_.data(), kPageBytes);
  moved.is_slow.store_relaxed(to == tier::slow);
  fast_.store_relaxed(to == tier::fast ? fast_pages() + 1 : fast_pages() - 1);
  moved_.add_as_only_writer(1);
}

namespace {

class interleaved : public page_policy {
 public:
  explicit interleaved(std::uint64_t expected) : expected_(expected) {}

  tier first_tier(const page_tiers& pages, std::uint64_t page) noexcept override {
    // Keeps the share of fast pages so far equal to the room's share of the expected pages.
    const double share =
        static_cast<double>(pages.room()) / static_cast<double>(std::max(expected_, pages.room()));
    const auto fast_before = static_cast<std::uint64_t>(share * static_cast<double>(page));
    const auto fast_after = static_cast<std::uint64_t>(share * static_cast<double>(page + 1));
    return fast_after > fast_before ? tier::fast : tier::slow;
  }

 private:
  const std::uint64_t expected_;
};

class tpp final : public page_policy {
  tier first_tier(const page_tiers& pages, std::uint64_t) noexcept override {
    return pages.free_pages() > 0 ? tier::fast : tier::slow;
  }
  void tick(page_tiers& tiers) override {
    const std::uint64_t all = tiers.pages().size();
    used_before_.resize(all);
    const std::uint64_t end = std::min(next_ + all / 10 + 1, all);
    for (; next_ < end; ++next_) look_at(tiers, next_);
    if (next_ == all) next_ = 0;
  }
  void look_at(page_tiers& tiers, std::uint64_t page) {
    emulated_page& seen = tiers.pages()[page];
    const bool is_used = seen.uses.value() > 0, was_used = used_before_[page];
    seen.uses.set(0);
    used_before_[page] = is_used;
    const std::uint64_t kept_free = tiers.room() / 50;
    if (seen.is_slow.load_relaxed()) {
      if (is_used && was_used && tiers.free_pages() > 0) tiers.move(page, tier::fast);
    } else if (!is_used && !was_used && tiers.free_pages() < kept_free) {
      tiers.move(page, tier::slow);
    }
  }

  std::uint64_t next_ = 0;
  std::vector<bool> used_before_;
};

class memtis final : public interleaved {
 public:
  using interleaved::interleaved;

 private:
  void tick(page_tiers& tiers) override {
    constexpr unsigned kTicksPerMigration = 5, kTicksPerCooling = 20;
    ++ticks_;
    if (ticks_ % kTicksPerMigration == 0) migrate(tiers);
    if (ticks_ % kTicksPerCooling != 0) return;
    for (emulated_page& each : tiers.pages()) {
      each.uses.set(static_cast<std::uint16_t>(each.uses.value() / 2));
    }
  }
  static void migrate(page_tiers& tiers) {
    const auto all = tiers.pages();
    if (all.empty()) return;
    placement::access_histogram seen;
    for (const emulated_page& each : all) seen.add(each.uses.value());
    const double share = static_cast<double>(tiers.room()) / static_cast<double>(all.size());
    std::uint32_t hot = seen.choose(share, 0).hot;
    std::uint64_t hottest = 0;
    for (const emulated_page& each : all) hottest += each.uses.value() >= hot;
    if (hottest > tiers.room()) hot *= 2;  // the bin does not fit whole
    std::uint64_t demotable = 0;
    for (std::uint64_t page = 0; page < all.size(); ++page) {
      if (all[page].uses.value() < hot || !all[page].is_slow.load_relaxed()) continue;
      while (tiers.free_pages() == 0 && demotable < all.size()) {
        const std::uint64_t candidate = demotable++;
        const emulated_page& cold = all[candidate];
        if (!cold.is_slow.load_relaxed() && cold.uses.value() < hot) {
          tiers.move(candidate, tier::slow);
        }
      }
      if (tiers.free_pages() == 0) return;
      tiers.move(page, tier::fast);
    }
  }

  unsigned ticks_ = 0;
};

class caption final : public interleaved {
 public:
  using interleaved::interleaved;

 private:
  void tick(page_tiers& tiers) override {
    constexpr unsigned kTicksPerStep = 10;
    for (emulated_page& each : tiers.pages()) {
      touches_ += each.uses.value();
      each.uses.set(0);
    }
    if (++ticks_ % kTicksPerStep != 0 || tiers.pages().empty()) return;
    choose_share(tiers);
    follow_share(tiers);
  }
  void choose_share(page_tiers& tiers) noexcept {
    constexpr double kLeastStep = 0.01;
    if (touches_ < touches_before_) {
      step_ = std::copysign(std::max(std::abs(step_) / 2, kLeastStep), -step_);
    }
    touches_before_ = std::exchange(touches_, 0);
    const auto all = static_cast<double>(tiers.pages().size());
    const double least = 1 - std::min(static_cast<double>(tiers.room()) / all, 1.0);
    slow_share_ = std::clamp(slow_share_ + step_, least, 1.0);
  }
  void follow_share(page_tiers& tiers) {
    const std::uint64_t all = tiers.pages().size();
    const auto wanted = static_cast<std::uint64_t>((1 - slow_share_) * static_cast<double>(all));
    while (tiers.fast_pages() != wanted) {
      const tier to = tiers.fast_pages() < wanted ? tier::fast : tier::slow;
      tiers.move(random_.below(all), to);
    }
  }

  base::random random_{1};
  unsigned ticks_ = 0;
  std::uint64_t touches_ = 0, touches_before_ = 0;
  double slow_share_ = 0, step_ = 0.1;
};

}  // namespace

std::unique_ptr<page_policy> make_interleave_policy(std::uint64_t expected) {
  return std::make_unique<interleaved>(expected);
}
std::unique_ptr<page_policy> make_tpp_policy() { return std::make_unique<tpp>(); }
std::unique_ptr<page_policy> make_memtis_policy(std::uint64_t expected) {
  return std::make_unique<memtis>(expected);
}
std::unique_ptr<page_policy> make_caption_policy(std::uint64_t expected) {
  return std::make_unique<caption>(expected);
}

}  // namespace isotherm::lab
