#include "collector/policy/budget.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/random.hpp"
#include "collector/memory/memory_room.hpp"
#include "collector/policy/busy_windows.hpp"
#include "collector/policy/order.hpp"
#include "collector/policy/worth.hpp"

namespace isotherm::collector {

namespace {

/// The largest share of the room for objects that is left free for those that come back when they
/// are used: an eighth.
constexpr std::uint64_t kReservedShare = 8;
/// Weight of the last window in how much comes back between two windows' ends.
constexpr double kNewest = 0.25;

std::uint64_t bytes_of(guides::word w) noexcept {
  return guides::size_of_class(guides::size_class_of(w));
}

class budget_policy final : public policy {
 public:
  policy_name name() const noexcept override { return policy_name::budget; }

  void begin_ageing(const options&) override {
    memory_.end_window();
    rounding_ = random_();
    expect_uses_in_cold();
    bytes_.fill(0);
    missed_bytes_.fill(0);
    expected_uses_.fill(0);
    used_ = {};
    in_dram_ = {};
    made_ = 0;
    typical_ = mean_size();
    guess_unknown();
    weighted_sizes_ = warm_bytes_ = newborn_bytes_ = 0;
    back_in_window_ = missed_ = std::exchange(came_back_, 0);
    warm_.fill(0);
    warm_used_ = 0;
  }

  guides::word age(guides::word w) override {
    const bool is_used = guides::is_accessed(w);
    const heap::kind where = guides::heap_of(w);
    w &= ~guides::kAccessed;
    auto before = static_cast<rate>(guides::history_of(w));
    if (where == heap::kind::cold) {
      if (!is_used) return w;
      before = memory_.looked_at(before);
      note_use(w, before);
      ++missed_;
      const rate kept = left_alone(memory_.used(before, random_bits()));
      missed_bytes_[worth_now(w, memory_.looked_at(kept))] += bytes_of(w);
      return guides::with_history(w, kept);
    }
    warm_bytes_ += bytes_of(w);
    weighted_sizes_ += bytes_of(w) * worth_of(w, 0);
    if (where == heap::kind::newborn) newborn_bytes_ += bytes_of(w);
    if (before == kUnknown) {
      // Creation sets the accessed bit, which may hide a use: it counts as a use that could miss.
      if (is_used) note_use_in_dram(w, unknown_);
      made_ += is_used ? 1 : 0;
      note_known(w, unknown_);
      return guides::with_history(w, unknown_);
    }
    ++warm_[before / kRatesPerGroup];
    if (is_used) {
      ++warm_used_;
      note_use_in_dram(w, before);
    }
    const std::uint16_t random = random_bits_for(w);
    const rate now = is_used ? memory_.used(before, random) : memory_.idle(before, random);
    const rate known = std::max(now, kNever);
    note_known(w, known);
    return guides::with_history(w, known);
  }

  rate rate_now(guides::word w) const noexcept override {
    const auto kept = static_cast<rate>(guides::history_of(w));
    return guides::heap_of(w) == heap::kind::cold ? memory_.looked_at(kept) : kept;
  }

  void weigh(const options& chosen, const memory_state& now,
             const window_statistics& seen) override {
    memory_.note({.objects = seen.accessed_objects,
                  .misses = seen.accessed_cold_objects,
                  // The load of objects that were in DRAM before: one that came back was a miss.
                  .load = load_of(warm_, warm_used_ - std::min(warm_used_, back_in_window_)),
                  .predicted_share = predicted_share_,
                  .seconds = seen.window_seconds});
    cold_objects_ = now.cold_objects;
    draw_ = random_();
    cut_ = leave_cut_ = {};
    tied_let_go_ = 0;
    const auto back = static_cast<double>(std::exchange(returned_bytes_, 0));
    likely_back_ += (back - likely_back_) * kNewest;
    if (now.target_bytes != 0) keep(room_for_objects(now) / taken_by_byte(now));
    if (memory_.length() == 0) busy_.forget();
    // An object that was made looks used.
    busy_.record(seen.accessed_objects - std::min(seen.accessed_objects, made_),
                 static_cast<double>(seen.accessed_cold_objects), seen.window_seconds, in_dram_);
    if (chosen.memory_target_bytes == 0) {
      let_go(allowed_misses(chosen, busy_.objects(), busy_.seconds()) - busy_.misses());
    }
    predicted_share_ = share_below_cut(seen.accessed_objects);
  }

  std::optional<heap::kind> target(guides::word w) override {
    using heap::kind;
    const auto now = static_cast<rate>(guides::history_of(w));
    switch (guides::heap_of(w)) {
      case kind::cold:
        return is_kept(w, memory_.looked_at(now), cut_) ? std::optional(kind::hot) : std::nullopt;
      case kind::hot:
        if (guides::is_accessed(w) || is_kept(w, now, leave_cut_)) return std::nullopt;
        return kind::cold;
      default:
        if (now == kUnknown) return std::nullopt;  // made since the window's end
        return guides::is_accessed(w) || is_kept(w, now, leave_cut_) ? kind::hot : kind::cold;
    }
  }

  heap::kind place_of_newborn(guides::word w) const noexcept override {
    const auto known = static_cast<rate>(guides::history_of(w));
    // An object that is worth just the cut would leave HOT again at the window's end. While nothing
    // had to leave there is no cut: then one of the mean size, of which nothing is known, is at it.
    const unsigned mean = likely_[unknown_] + mean_size();
    const bool is_kept =
        worth_now(w, known == kUnknown ? unknown_ : known) > std::max(leave_cut_.at, mean);
    return guides::is_accessed(w) || is_kept ? heap::kind::hot : heap::kind::cold;
  }

  heap::band band(guides::word w, std::optional<heap::band> now) const noexcept override {
    const rate known = rate_now(w);
    return now ? band_of(known, *now) : band_of(known);
  }

  return_gate::rules returns() const override {
    // An object that comes back takes no other's place while nothing has to leave.
    const unsigned margin = cut_.at > 0 && leave_cut_.at > 0 ? doubt() : 0;
    return_gate::rules all;
    for (unsigned history = 0; history < all.answers.size(); ++history) {
      all.answers[history] = return_answer(static_cast<rate>(history), margin);
    }
    all.ties = {.seed = draw_, .most = cut_.ties};
    return all;
  }

  void note_returned(const returned& since) override {
    came_back_ += since.objects;
    returned_bytes_ += since.bytes;
  }

  guides::word resting(guides::word w) const noexcept override {
    if (guides::heap_of(w) == heap::kind::cold) return w;  // since age()
    const auto known = static_cast<rate>(guides::history_of(w));
    return guides::with_history(w, left_alone(known == kUnknown ? unknown_ : known));
  }

  std::uint64_t expected_bytes() const noexcept override {
    const std::uint64_t leaving = warm_bytes_ - bytes_kept(bytes_, leave_cut_);
    return newborn_bytes_ + leaving;
  }

  outlook adapt(const options&, std::uint64_t, const window_statistics&) override {
    return {.kept_rate = share_of(cut_.at), .rate_windows = memory_.length()};
  }

  std::uint64_t page_out_bytes(const options& chosen, const window_statistics&, double) override {
    return chosen.page_out_bytes_per_window;
  }

 private:
  /// Returns the answer for objects of COLD with that history, which come back when their worth
  /// exceeds the cut by `margin`.
  return_gate::answer return_answer(rate history, unsigned margin) const noexcept {
    const rate before = memory_.looked_at(history);
    const auto worth = static_cast<int>(likely_[memory_.used(before, kNoChance)]);
    // A class less is an octave more, below a page.
    const int missing = static_cast<int>(cut_.at + margin) - worth;
    const int octaves = missing < 0 ? 0 : missing / static_cast<int>(kRatesPerOctave);
    const bool is_tie = missing >= 0 && missing % static_cast<int>(kRatesPerOctave) == 0;
    const int first_out = static_cast<int>(kPageClass) - octaves;  // of the classes
    return_gate::answer all{.history = std::max(before, kNever),
                            .below = missing < 0
                                         ? return_gate::kAllClasses
                                         : static_cast<std::uint8_t>(std::max(first_out, 0))};
    if (!is_tie || first_out < 0) return all;
    // All of a page or more are worth as much.
    all.drawn = missing == 0 ? return_gate::kAllClasses : static_cast<std::uint8_t>(first_out + 1);
    return all;
  }

  static constexpr rate kUnknown = 0, kNever = 1;
  static constexpr std::uint16_t kNoChance = 0xffff;  // the rounding of use_memory: down

  /// Never unknown: the move to COLD may fail.
  rate left_alone(rate r) const noexcept { return std::max(memory_.left_alone(r), kNever); }

  /// A mean over few windows says little, above all of an object that none of them used: it is
  /// expected to be used as often as a mean object of COLD. This expectation is added to every
  /// rate.
  void expect_uses_in_cold() {
    const auto used = static_cast<double>(missed_);
    const double share =
        cold_objects_ > 0 ? std::min(used / static_cast<double>(cold_objects_), 1.0) : 0;
    cold_share_ += (share - cold_share_) / (memory_.length() + 1);
    for (unsigned r = 0; r < kRates; ++r) {
      likely_[r] = std::max(rate_of(share_of(r) + cold_share_), kNever);
    }
  }
  unsigned worth_now(guides::word w, rate now) const noexcept { return worth_of(w, likely_[now]); }

  /// Returns by how much the worth of an object that was read for a use must exceed the cut so that
  /// it comes back. The rate of an object that is used in k of n windows is known to within itself
  /// / sqrt(k). The use just now makes it look better than it is, and exchanging it for an object
  /// of equal worth costs two moves and a write to the disk, again and again. While next to nothing
  /// is known, the objects used last are the better guess: the doubt is a quarter of an octave at
  /// most.
  unsigned doubt() const noexcept {
    constexpr double kMost = 0.25, kFewestUses = 1.0 / 64;
    const double uses = std::max(share_of(cut_.at) * memory_.length(), kFewestUses);
    const double octaves = std::min(std::log2(1 + 1 / std::sqrt(uses)), kMost);
    return static_cast<unsigned>(octaves * kRatesPerOctave);
  }

  /// Counts a use by what the object would be worth now if it had not been used.
  void note_use(guides::word w, rate before) noexcept { ++used_[worth_without_use(w, before)]; }
  void note_use_in_dram(guides::word w, rate before) noexcept {
    note_use(w, before);
    ++in_dram_.uses[worth_without_use(w, before)];
  }
  unsigned worth_without_use(guides::word w, rate before) const noexcept {
    return worth_now(w, std::max(memory_.idle(before, 0), kNever));
  }
  /// Counts an object of NEW or HOT.
  void note_known(guides::word w, rate now) noexcept {
    const unsigned worth = worth_now(w, now);
    bytes_[worth] += bytes_of(w);
    ++in_dram_.objects[worth];
    expected_uses_[worth] += share_of(now);
  }

  /// Guesses the rate of new objects, of which nothing is known: size decides, and one of the mean
  /// size (of all bytes) is just worth its room.
  void guess_unknown() {
    const unsigned at_cut = std::clamp(leave_cut_.at, typical_, typical_ + kRates - 1) - typical_;
    const rate guess = rate_of(std::max(share_of(at_cut) - cold_share_, 0.0));
    unknown_ = std::max(memory_.idle(guess, 0), kNever);
  }

  /// Returns the mean, over all bytes, of what an object's size adds to its worth.
  unsigned mean_size() const noexcept {
    return warm_bytes_ > 0 ? static_cast<unsigned>(weighted_sizes_ / warm_bytes_) : typical_;
  }

  /// Returns the part of the target that is left to objects in DRAM.
  static double room_for_objects(const memory_state& now) noexcept {
    const std::uint64_t counted = now.warm_bytes + now.cold_bytes;
    const std::uint64_t others = now.dram_bytes - std::min(now.dram_bytes, counted);
    const std::uint64_t for_writers = now.target_bytes / kWritersShare;
    return static_cast<double>(now.target_bytes - for_writers) - static_cast<double>(others);
  }

  /// DRAM that a byte of a size class takes: objects are smaller than their class says, and there
  /// are holes between them, but no more than now: a few objects in their extents say nothing of
  /// many.
  double taken_by_byte(const memory_state& now) const noexcept {
    if (warm_bytes_ == 0 || now.warm_bytes == 0) return 1;
    const auto extents = static_cast<double>(now.warm_bytes);
    const double packed = static_cast<double>(now.warm_object_bytes) * now.spread;
    return (packed > 0 ? std::min(extents, packed) : extents) / static_cast<double>(warm_bytes_);
  }

  /// Sets the cuts for `most` bytes of size classes in DRAM. `cut_`: objects worth more belong in
  /// DRAM, wherever they lie now. `leave_cut_` is lower: objects stay until room is needed for
  /// those expected back this window.
  void keep(double most) noexcept {
    const auto room = static_cast<std::uint64_t>(std::clamp(most, 0.0, 0x1p62));
    bytes_by_worth all;
    std::ranges::transform(bytes_, missed_bytes_, all.begin(), std::plus());
    cut_ = cut_within(all, room);
    if (cut_.at > 0) {
      // Among objects of one worth, those in DRAM come first: an exchange would gain nothing.
      const std::uint64_t before = bytes_above(all, cut_.at) + bytes_[cut_.at];
      cut_.ties = ties_within(room - std::min(room, before), missed_bytes_[cut_.at]);
    }
    if (memory_.length() == 0) return make_room_for_others(room);
    const std::uint64_t sure = bytes_above(missed_bytes_, cut_.at + doubt());
    const std::uint64_t later =
        std::min(std::max(sure, static_cast<std::uint64_t>(likely_back_)), room / kReservedShare);
    leave_cut_ = cut_within(bytes_, room - later);
  }
  /// After a change of load nothing is known of what is used now: all of it may come back; up to
  /// half the room is cleared for it.
  void make_room_for_others(std::uint64_t room) noexcept {
    cut_ = {};
    leave_cut_ = cut_within(bytes_, room - std::min(room / 2, bytes_kept(missed_bytes_, {})));
  }
  /// Lets go the objects of DRAM whose misses together are at most `misses`, if these are more than
  /// have to leave anyway. A negative number lets nothing go, and all that is used comes back.
  void let_go(double misses) {
    if (warm_bytes_ == 0) return;  // nothing says what a new object is worth
    const miss_cut going =
        cut_for_misses(busy_.in_dram(), expected_uses_, in_dram_.objects, misses);
    const worth_cut leaving = going.at == kWorths ? worth_cut{kWorths - 1, 0}
                                                  : worth_cut{going.at, ties_of(1 - going.share)};
    if (leaving.at < leave_cut_.at) return;
    if (leaving.at == leave_cut_.at && leaving.ties >= leave_cut_.ties) return;
    leave_cut_ = leaving;
    // Objects of that worth do not come back while some of them leave.
    cut_ = {leaving.at, going.share > 0 ? 0 : leaving.ties};
    busy_.record_leaving(going.misses);
    tied_let_go_ = going.share;
  }

  /// Returns the share of the window's `used` objects that this cut would have had in COLD.
  double share_below_cut(std::uint64_t used) const noexcept {
    const std::uint64_t below =
        std::accumulate(used_.begin(), used_.begin() + cut_.at, std::uint64_t{0});
    const double at_cut = tied_let_go_ * static_cast<double>(used_[cut_.at]);
    return used > 0 ? (static_cast<double>(below) + at_cut) / static_cast<double>(used) : 0;
  }

  /// Keeps a share of the objects worth as much as the cut, which may be most of all. The address
  /// chooses them, because another request for an object says nothing new.
  bool is_kept(guides::word w, rate now, worth_cut cut) const noexcept {
    const unsigned worth = worth_now(w, now);
    if (worth != cut.at) return worth > cut.at;
    return return_gate::draw{draw_, cut.ties}.says(w);
  }

  std::uint16_t random_bits() noexcept { return static_cast<std::uint16_t>(random_()); }
  /// Returns bits that all objects of an extent share at a window's end: objects that were used
  /// alike stay worth the same, and leave together.
  std::uint16_t random_bits_for(guides::word w) const noexcept {
    const std::uint64_t extent = guides::address_of(w) / heap::kTogetherBytes;
    return static_cast<std::uint16_t>(base::mix64(extent ^ rounding_));
  }

  use_memory memory_;
  double cold_share_ = 0;                 // of windows, in which an object of COLD is used
  std::array<rate, kRates> likely_ = {};  // each rate with that added
  // By worth: the bytes of size classes of NEW and HOT, those of what was used in COLD, and the
  // uses that the rates of both let expect in a window.
  bytes_by_worth bytes_{};
  bytes_by_worth missed_bytes_{};
  std::array<double, kWorths> expected_uses_{};
  use_histogram used_{};    // in the window, by what they would be worth without that
  dram_uses in_dram_{};     // of these, in NEW and HOT
  std::uint64_t made_ = 0;  // objects of which nothing was known before the window
  busy_windows busy_;
  double tied_let_go_ = 0;            // share of what is worth just the cut that was let go
  objects_by_rate warm_{};            // NEW and HOT, by what was known before the window
  std::uint64_t warm_used_ = 0;       // of these
  std::uint64_t warm_bytes_ = 0;      // of size classes: NEW and HOT
  std::uint64_t weighted_sizes_ = 0;  // each byte by what its object's size adds to the worth
  unsigned typical_ = 0;              // the mean of that, of the last window
  rate unknown_ = kNever;             // of new objects
  std::uint64_t newborn_bytes_ = 0;   // of warm_bytes_, those of NEW
  std::uint64_t cold_objects_ = 0;    // at the last window's end
  std::uint64_t missed_ = 0;          // used in COLD, and not yet counted when it came back
  std::uint64_t came_back_ = 0;       // to HOT for a use, since the last window's end
  std::uint64_t back_in_window_ = 0;  // to HOT for a use, in the window that ended last
  std::uint64_t returned_bytes_ = 0;  // of what came back between two windows' ends
  double likely_back_ = 0;            // its mean
  double predicted_share_ = 0;        // of misses in what is used, by the cut of the last window
  worth_cut cut_;                     // what is above it may come back from COLD
  worth_cut leave_cut_;               // what is not above it leaves DRAM: never above cut_
  std::uint64_t draw_ = 0;            // of what is at a cut, in this window
  std::uint64_t rounding_ = 0;        // seed of random_bits_for(), in this window
  base::random random_{1};            // for rounding
};

}  // namespace

std::unique_ptr<policy> make_budget_policy() { return std::make_unique<budget_policy>(); }

}  // namespace isotherm::collector
