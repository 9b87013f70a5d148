// The first pass over the due guides at the end of a window: which objects were used, and what that
// makes of their words.
#pragma once

#include <cstdint>

#include "collector/policy/policy.hpp"
#include "collector/scan/hot_order.hpp"
#include "collector/scan/touched_pages.hpp"
#include "collector/statistics.hpp"
#include "guide/soda.hpp"
#include "os/clock.hpp"

namespace isotherm::collector {

/// The fate of the active thread counts.
enum class counts_left : std::uint8_t {
  kept,
  cleared  ///< no tracking scope is open: what stayed behind may go
};

/// Counts and notes one guide's uses, and ages its word, in one attempt: a word that changed
/// meanwhile belongs to a warm object, so it is left as it is and stays due for the next window
/// (pitfall 6).
class ageing final : public guides::slot_visitor {
 public:
  ageing(policy& decides, counts_left counts, touched_pages& pages, hot_order& order,
         window_statistics& statistics)
      : policy_(decides), counts_(counts), pages_(pages), order_(order), statistics_(statistics) {}
  guides::verdict visit(guides::slot_word& slot) override { return age(slot, slot.load_acquire()); }
  /// The pass pauses some milliseconds after each call, so that others get their turn.
  void begin_piece() noexcept { piece_end_ns_ = os::monotonic_ns() + kPieceNs; }
  bool wants_pause() const noexcept override { return os::monotonic_ns() >= piece_end_ns_; }
  /// The sizes of used objects are read, and those of all of them for who looks at pages: one after
  /// the other, each would be a wait for memory.
  void expect(guides::word w) const noexcept override;
  /// Replaces `seen`, the word as it was read, by what the window's end makes of it.
  guides::verdict age(guides::slot_word& slot, guides::word seen);

 private:
  static constexpr std::uint64_t kPieceNs = 5'000'000;
  void record_use(guides::word w);

  policy& policy_;
  const counts_left counts_;
  touched_pages& pages_;
  hot_order& order_;
  window_statistics& statistics_;
  std::uint64_t piece_end_ns_ = ~std::uint64_t{0};
};

/// Completes `seen` with what the pages that were used say.
void measure(const touched_pages& pages, window_statistics& seen);

/// For words that mean something else from now on: clears the histories of all guides.
void clear_histories();

}  // namespace isotherm::collector
