// Temperature is a rate: in which share of the windows an object is used. A pure policy.
//
// All that is known of a window is one bit an object: whether it was used. The rate is the weighted
// mean of these bits. While the load stays the same every window weighs the same, so that the mean
// gets more exact with each, up to a memory of kLongestMemory windows; from then on older windows
// count exponentially less. The memory starts anew when the load changes, and objects that are hot
// now are found within a few windows. A change shows in unexpected misses while objects in DRAM are
// used less than before. When others' misses come beside the load that was, as in a look through
// all records, the memory gets shorter: what was known is kept, and what is new counts for more.
//
// A rate takes 12 bits, as a logarithm: 0 is never, 4095 is always, 256 less is half as often. The
// least rate but never is one use in 65,000 windows. An update smaller than a step is rounded at
// random, so that the mean of many is right (Morris, CACM 1978). Objects in COLD are not looked at
// in each window: they keep the upper 7 bits, and in the other 5 the era in which these were right.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace isotherm::collector {

using rate = std::uint16_t;
inline constexpr unsigned kRates = 4096;
inline constexpr unsigned kRatesPerOctave = 256;
inline constexpr unsigned kLongestMemory = 256, kShortMemory = 16;  // windows
inline constexpr unsigned kEraWindows = 32, kEras = 32;

/// The share of windows that a rate stands for; above all rates, more than one.
double share_of(unsigned r) noexcept;
/// The rate that is nearest to a share.
rate rate_of(double share) noexcept;

/// The least index from which on all of `amounts`, of objects or their bytes by worth, are within
/// `budget` together; their number when not even the last is.
unsigned cut_for(std::span<const std::uint64_t> amounts, std::uint64_t budget) noexcept;

/// Numbers of objects by their rates, kRatesPerGroup together.
inline constexpr unsigned kRatesPerGroup = 64;
using objects_by_rate = std::array<std::uint64_t, kRates / kRatesPerGroup>;
/// Returns how many times as many requests a window had as those whose mean the rates are, when
/// `used` of these objects were used in it: each with the probability 1 - (1 - rate)^load. At most
/// 64; without objects 1.
double load_of(const objects_by_rate& objects, std::uint64_t used) noexcept;

/// The uses of a window.
struct window_uses {
  std::uint64_t objects = 0;
  std::uint64_t misses = 0;    ///< of these, in COLD
  double load = 1;             ///< load_of()
  double predicted_share = 0;  ///< of misses, by the policy
  double seconds = 1;          ///< that the window took
};

/// Changes rates at the end of a window. One thread.
class use_memory {
 public:
  use_memory() noexcept { rebuild(); }

  /// Ends a window. Call it before the window's rates are updated.
  void end_window() noexcept;
  /// Notes the uses of the window that ended last. More misses than the last windows let expect at
  /// this load, and than were predicted, mean that other objects are used, and not the same ones
  /// more or less often. The next window then begins a new memory; a load of a second that is
  /// nearly that of the last windows only limits the memory to kShortMemory.
  void note(const window_uses& seen) noexcept;

  /// Windows that the rates are the mean of.
  unsigned length() const noexcept { return length_; }
  /// Times that the memory started anew.
  std::uint64_t restarts() const noexcept { return restarts_; }
  /// The era of the window that ended last.
  unsigned era() const noexcept { return era_; }

  /// The rate after the window that ended last, in which the object was used. `random`: any 16
  /// random bits, for the rounding.
  rate used(rate before, std::uint16_t random) const noexcept {
    return used_[before].taken(random);
  }
  /// The rate after that window when the object was not used in it.
  rate idle(rate before, std::uint16_t random) const noexcept {
    return idle_[before].taken(random);
  }
  /// The rate that an object keeps in COLD; its low part becomes the era.
  rate left_alone(rate r) const noexcept { return static_cast<rate>(r / kEras * kEras + era_); }
  /// The rate today of an object that was left alone in COLD, to within an era. After more than
  /// kEras eras, some thousand windows, it reads as if the object had been left alone later.
  rate looked_at(rate kept) const noexcept;

 private:
  /// The next rate is `least`, or one more with a probability of odds / 2^16.
  struct step {
    rate least;
    std::uint16_t odds;
    rate taken(std::uint16_t random) const noexcept {
      return static_cast<rate>(least + (random < odds ? 1 : 0));
    }
  };
  static step rounded(double rate) noexcept;
  void rebuild() noexcept;

  unsigned length_ = 0;
  std::uint64_t restarts_ = 0;
  double usual_uses_ = 0;       ///< objects used in a window
  double expected_misses_ = 0;  ///< at a load of 1
  double usual_pace_ = 0;       ///< load a second; 0: not known since the memory began
  unsigned windows_in_era_ = 0;
  unsigned era_ = 0;
  std::array<float, kEras> faded_{};  ///< steps that a rate without uses lost in each era
  std::array<step, kRates> used_, idle_;
};

}  // namespace isotherm::collector
