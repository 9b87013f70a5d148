// How the window that ended last used the pages of the heaps: for the page that draws them. It is
// recorded only while a caller asks for it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "collector/policy/temperature.hpp"
#include "guide/word.hpp"
#include "heap/kind.hpp"

namespace isotherm::collector {

/// A page, as its objects were used where they lay when the window ended, before anything moved.
struct page_use {
  std::uint16_t used_bytes = 0;  ///< of objects used in the window; at most base::kPageBytes
  rate hottest =
      0;  ///< the highest rate of an object in it (share_of()); 0: nothing is known of any
};

/// An object as its guide tells of it.
struct seen_object {
  std::uintptr_t address;
  std::uint64_t bytes;
  rate of_use;    ///< share_of() of the windows; 0: nothing is known
  bool was_used;  ///< since the last window's end
};

/// Filled by the collector's thread at a window's end; afterwards it does not change.
class page_uses {
 public:
  std::uint64_t window() const noexcept { return window_; }
  /// Returns the use of page `number` from the heap's begin on; zeros where nothing was seen.
  page_use of(heap::kind where, std::uint64_t number) const noexcept {
    const auto& pages = pages_[where];
    return number < pages.size() ? pages[number] : page_use{};
  }
  /// Returns the page utilization that there would be if the objects of NEW and HOT lay in the
  /// order of their rates, pages of one rate and one size class each, and were used independently;
  /// 0: nothing is known.
  double utilization_bound() const noexcept;

  // For the collector. Uses that no memory is left to note are dropped.
  void begin(std::uint64_t window) noexcept { window_ = window; }
  void add_used(heap::kind where, std::uint64_t number, std::size_t bytes) noexcept;
  /// Adds the rate of the object of `w`, an aged word, which takes so many bytes.
  void add_rate(guides::word w, std::uint64_t bytes, rate of_use) noexcept;

 private:
  static constexpr unsigned kClasses = 1U << guides::kSizeBits;
  static constexpr unsigned kStep = 16;  // rates that are counted together

  struct sum {
    std::uint64_t objects = 0, bytes = 0;
  };

  page_use* at(heap::kind where, std::uint64_t number) noexcept;

  std::uint64_t window_ = 0;
  heap::per_kind<std::vector<page_use>> pages_;
  std::array<std::array<sum, kClasses>, kRates / kStep> alike_{};  // objects of NEW and HOT
};

/// Hands page uses from the collector's thread to others. Thread-safe.
class page_watch {
 public:
  static constexpr std::uint64_t kPatienceNs = 5'000'000'000;
  /// Returns the page uses of the last window; null until one has ended since a caller began to
  /// ask. Orders those of the windows that end within kPatienceNs, and of the next one in any case.
  std::shared_ptr<const page_uses> look();

  /// For the collector: returns the uses that the window that ends now is to fill; null when no
  /// caller asks any more, and then nothing is kept.
  std::shared_ptr<page_uses> begin_window();
  void end_window(std::shared_ptr<const page_uses> filled);

 private:
  std::mutex mutex_;
  bool is_asked_for_ = false;  // since the last window
  std::uint64_t asked_until_ns_ = 0;
  std::shared_ptr<const page_uses> last_;
};

}  // namespace isotherm::collector
