// Which objects come back from COLD when they have been read for a use (guide/fetched.hpp): the
// policy's answer for all histories and sizes, written down at a window's end, so that any thread
// can ask at any time; and how many bytes may come back until the collector looks at memory again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/atomic.hpp"
#include "base/random.hpp"
#include "collector/statistics.hpp"
#include "guide/fetched.hpp"
#include "heap/object.hpp"

namespace isotherm::collector {

/// The objects that have come back since the last count, and their bytes.
struct returned {
  std::uint64_t objects = 0, bytes = 0;
};

class return_gate final : public guides::return_policy {
 public:
  /// For objects of one history.
  struct answer {
    std::uint16_t history = 0;  ///< that they have in HOT
    /// Those of a size class below `below` come back; of the others, those of a class below `drawn`
    /// that the draw says.
    std::uint8_t below = 0, drawn = 0;
  };
  static constexpr std::uint8_t kAllClasses = 1U << guides::kSizeBits;
  /// Draws the objects of which the place, mixed with `seed`, is at most `most`. All objects of an
  /// extent have one place: of objects that are worth the same, those leave together that share an
  /// extent, which is empty then.
  struct draw {
    std::uint64_t seed = 0, most = 0;
    bool says(guides::word w) const noexcept {
      return base::mix64(guides::address_of(w) / heap::kTogetherBytes ^ seed) <= most;
    }
  };

  /// All answers, by history.
  struct rules {
    std::array<answer, 1U << guides::kHistoryBits> answers{};
    draw ties;
  };

  /// Takes the rules over. One thread at a time; who asks meanwhile gets old answers or new ones.
  void write(const rules& now) noexcept;
  /// Until the next call so many bytes may come back; kUnlimited: any number. Any thread.
  void allow(std::uint64_t bytes) noexcept;
  static constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};
  returned take_returned() noexcept;
  /// Times that it was asked: uses of objects that had left DRAM. Any thread.
  std::uint64_t asked() const noexcept { return asked_.load_relaxed(); }

  /// Lets pass what the answers say, and what is used a second time in its window: requests that
  /// repeat within one would miss each time (admission as in 2Q: Johnson, Shasha, VLDB 1994).
  std::optional<unsigned> admit(guides::word w, std::size_t bytes,
                                heap::used_before before) noexcept override;
  void note_returned(std::size_t bytes) noexcept override;

 private:
  static constexpr std::uint32_t pack(const answer& a) noexcept {
    return std::uint32_t{a.history} | std::uint32_t{a.below} << 16U | std::uint32_t{a.drawn} << 24U;
  }

  // Relaxed but for the exchanges, for which there is no weaker one: each answer is right by
  // itself, for this window or the last one, and the rest are counts.
  std::array<base::atomic<std::uint32_t>, 1U << guides::kHistoryBits> answers_{};
  base::atomic<std::uint64_t> seed_{0}, most_{0};
  base::atomic<std::int64_t> room_{0};
  base::atomic<std::uint64_t> asked_{0}, objects_{0}, bytes_{0};
};

/// Returns the gate of the collector that runs windows; threads may ask it at any time.
return_gate& gate();

/// Counts the objects that have come back as promoted, and as used in COLD, each in a page of its
/// own, as is the rule.
void count_returned(const returned& since, window_statistics& seen) noexcept;

}  // namespace isotherm::collector
