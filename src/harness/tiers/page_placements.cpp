// Placements of pages: nodes lie where the arena puts them, and pages of 4 KiB are fast or slow.
//
// Uses are seen by a sample of one touch of a node in 16, for all of them, at no cost to the
// requests but the sampling; a kernel pays faults (TPP) or interrupts (MEMTIS) for that, so that
// these policies are flattered. Moving a page costs the copying of 4 KiB on a thread in the
// background.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "harness/tiers/placements.hpp"
#include "os/signals.hpp"
#include "os/thread.hpp"
#include "placement/access_histogram.hpp"
#include "placement/emulation.hpp"
#include "placement/node_memory.hpp"

namespace isotherm::harness {
namespace {

using placement::emulated_page;
using placement::tier;

constexpr std::uint64_t kPageBytes = std::uint64_t{1} << placement::kTierPageShift;

/// Weighted interleaving, which the others begin with: of each run of pages the share that fits is
/// fast (Linux' weighted interleave policy).
class page_placement : public tier_placement, protected placement::placer {
 public:
  explicit page_placement(std::uint64_t fast_bytes)
      : fast_pages_(fast_bytes / kPageBytes), all_(placement::emulate_pages()) {}
  ~page_placement() override { end(); }

  placement::placer& chooser() noexcept override { return *this; }
  /// Nodes lie in one range; their pages say what is fast.
  tier choose(std::size_t, const placement::node_place&) noexcept override { return tier::fast; }

  base::result<void> begin(placement::placed_tree&, const request_drive&) override {
    add_pages();
    const os::signals_blocked in_the_new_thread;
    auto started = os::start_thread("iso-pages", [this] { work(); });
    if (!started) return std::unexpected(started.error());
    thread_ = std::move(*started);
    return {};
  }
  void end() noexcept override {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
  }
  std::uint64_t fast_bytes() const noexcept override { return fast_.load_relaxed() * kPageBytes; }
  nlohmann::json details() const override { return {{"moved_pages", moved_.load_relaxed()}}; }

 protected:
  /// The tier of a page that nodes were just put on.
  virtual tier first_tier(std::uint64_t page) noexcept {
    // As many fast ones among the pages so far as the share says.
    const double share = static_cast<double>(fast_pages_) /
                         static_cast<double>(std::max(expected_pages_, fast_pages_));
    const auto fast_before = static_cast<std::uint64_t>(share * static_cast<double>(page));
    const auto fast_after = static_cast<std::uint64_t>(share * static_cast<double>(page + 1));
    return fast_after > fast_before ? tier::fast : tier::slow;
  }
  /// Ten times a second.
  virtual void tick() {}

  std::span<emulated_page> pages() noexcept { return {all_, known_}; }
  std::uint64_t free_pages() const noexcept {
    const std::uint64_t used = fast_.load_relaxed();
    return used < fast_pages_ ? fast_pages_ - used : 0;
  }
  void move(std::uint64_t page, tier to) {
    emulated_page& moved = all_[page];
    if (moved.is_slow.load_relaxed() == (to == tier::slow)) return;
    // What a move costs; not the page itself, which may be one that the arena left out.
    std::memcpy(copied_.data(), copy_.data(), kPageBytes);
    set(page, to);
    moved_.store_relaxed(moved_.load_relaxed() + 1);
  }

  const std::uint64_t fast_pages_;

 private:
  void set(std::uint64_t page, tier to) noexcept {
    all_[page].is_slow.store_relaxed(to == tier::slow);
    fast_.store_relaxed(to == tier::fast ? fast_.load_relaxed() + 1 : fast_.load_relaxed() - 1);
  }
  void add_pages() {
    const auto range = placement::used_range(tier::fast);
    const std::uint64_t used = (range.end - range.begin) / kPageBytes;
    if (expected_pages_ == 0) expected_pages_ = used;
    for (; known_ < used; ++known_) {
      fast_.store_relaxed(fast_.load_relaxed() + 1);
      if (first_tier(known_) == tier::slow) set(known_, tier::slow);
    }
  }
  void work() {
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait_for(lock, std::chrono::milliseconds(100), [this] { return stopping_; });
        if (stopping_) return;
      }
      add_pages();
      tick();
    }
  }

  emulated_page* const all_;
  std::uint64_t known_ = 0, expected_pages_ = 0;
  base::atomic<std::uint64_t> fast_{0}, moved_{0};
  std::vector<char> copy_ = std::vector<char>(kPageBytes), copied_ = copy_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  os::thread thread_;
};

/// In the manner of TPP (Maruf et al., ASPLOS 2023): pages begin in fast memory while there is
/// room; some room is kept free by demoting pages that were not used of late; a slow page that was
/// used in two looks in a row is promoted. Left out: that uses of slow pages are found by faults of
/// the threads that use them, and promoted by these threads.
class tpp_placement final : public page_placement {
  using page_placement::page_placement;
  std::uint64_t kept_free() const noexcept { return fast_pages_ / 50; }

  tier first_tier(std::uint64_t) noexcept override {
    return free_pages() > 0 ? tier::fast : tier::slow;
  }
  void tick() override {
    const auto all = pages();
    if (used_before_.size() < all.size()) used_before_.resize(all.size());
    // A tenth of the pages each time, so that all are looked at once a second.
    const std::uint64_t end = std::min<std::uint64_t>(next_ + all.size() / 10 + 1, all.size());
    for (; next_ < end; ++next_) look_at(next_, all[next_]);
    if (next_ == all.size()) next_ = 0;
  }
  void look_at(std::uint64_t page, emulated_page& seen) {
    const bool is_used = seen.uses.value() > 0, was_used = used_before_[page];
    seen.uses.set(0);
    used_before_[page] = is_used;
    if (seen.is_slow.load_relaxed()) {
      if (is_used && was_used && free_pages() > 0) move(page, tier::fast);
    } else if (!is_used && !was_used && free_pages() < kept_free()) {
      move(page, tier::slow);
    }
  }

  std::uint64_t next_ = 0;
  std::vector<bool> used_before_;
};

/// In the manner of MEMTIS (Lee et al., SOSP 2023): a histogram of pages by their uses says from
/// how many on a page belongs to the hot ones that fit; those are promoted, pages below it demoted;
/// the counts are halved every two seconds. Left out: huge pages and their splitting.
class memtis_placement final : public page_placement {
  using page_placement::page_placement;

  void tick() override {
    constexpr unsigned kTicksPerMigration = 5, kTicksPerCooling = 20;
    ++ticks_;
    if (ticks_ % kTicksPerMigration == 0) migrate();
    if (ticks_ % kTicksPerCooling != 0) return;
    for (emulated_page& each : pages()) {
      each.uses.set(static_cast<std::uint16_t>(each.uses.value() / 2));
    }
  }
  void migrate() {
    placement::access_histogram seen;
    const auto all = pages();
    for (const emulated_page& each : all) seen.add(each.uses.value());
    const double share = static_cast<double>(fast_pages_) / static_cast<double>(all.size());
    std::uint32_t hot = seen.choose(share, 0).hot;
    std::uint64_t hottest = 0;
    for (const emulated_page& each : all) hottest += each.uses.value() >= hot;
    if (hottest > fast_pages_) hot *= 2;  // the bin does not fit whole
    std::uint64_t demotable = 0;
    for (std::uint64_t page = 0; page < all.size(); ++page) {
      if (all[page].uses.value() < hot || !all[page].is_slow.load_relaxed()) continue;
      while (free_pages() == 0 && demotable < all.size()) {
        const std::uint64_t candidate = demotable++;
        const emulated_page& cold = all[candidate];
        if (!cold.is_slow.load_relaxed() && cold.uses.value() < hot) move(candidate, tier::slow);
      }
      if (free_pages() == 0) return;
      move(page, tier::fast);
    }
  }
  unsigned ticks_ = 0;
};

/// In the manner of Caption (Sun et al., MICRO 2023): the share of slow pages takes a step once a
/// second, in the same direction as long as more nodes are touched than in the second before, else
/// back and by half as much. At least as many are slow as the size of fast memory demands. Left
/// out: the estimate of the throughput from processor counters (touches are counted here), and that
/// only new pages follow the share (pages taken at random are moved here).
class caption_placement final : public page_placement {
  using page_placement::page_placement;

  void tick() override {
    constexpr unsigned kTicksPerStep = 10;
    for (emulated_page& each : pages()) {
      touches_ += each.uses.value();
      each.uses.set(0);
    }
    if (++ticks_ % kTicksPerStep != 0) return;
    choose_share();
    follow_share();
  }
  void choose_share() noexcept {
    constexpr double kLeastStep = 0.01;
    if (touches_ < touches_before_) {
      step_ = std::copysign(std::max(std::abs(step_) / 2, kLeastStep), -step_);
    }
    touches_before_ = std::exchange(touches_, 0);
    const auto all = static_cast<double>(pages().size());
    const double least = 1 - std::min(static_cast<double>(fast_pages_) / all, 1.0);
    slow_share_ = std::clamp(slow_share_ + step_, least, 1.0);
  }
  void follow_share() {
    const auto all = pages();
    const auto wanted =
        static_cast<std::uint64_t>((1 - slow_share_) * static_cast<double>(all.size())) *
        kPageBytes;
    while (fast_bytes() != wanted) {
      const tier to = fast_bytes() < wanted ? tier::fast : tier::slow;
      move(random_.below(all.size()), to);
    }
  }

  base::random random_{1};
  unsigned ticks_ = 0;
  std::uint64_t touches_ = 0, touches_before_ = 0;
  double slow_share_ = 0, step_ = 0.1;
};

}  // namespace

std::unique_ptr<tier_placement> make_interleave_placement(std::uint64_t fast_bytes) {
  return std::make_unique<page_placement>(fast_bytes);
}
std::unique_ptr<tier_placement> make_tpp_placement(std::uint64_t fast_bytes) {
  return std::make_unique<tpp_placement>(fast_bytes);
}
std::unique_ptr<tier_placement> make_memtis_placement(std::uint64_t fast_bytes) {
  return std::make_unique<memtis_placement>(fast_bytes);
}
std::unique_ptr<tier_placement> make_caption_placement(std::uint64_t fast_bytes) {
  return std::make_unique<caption_placement>(fast_bytes);
}

}  // namespace isotherm::harness
