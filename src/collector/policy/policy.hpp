// The seam between what is cold and how it is moved.
//
//   published   an inactive-window count and a threshold that follows the promotion rate
//               (OBASE 3.4)
//   budget      how often an object is used for its size, and what DRAM or misses are allowed
//
// A policy reads and writes the history bits of guide words (guide/word.hpp). It has no thread, no
// clock and no I/O.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "collector/memory/return_gate.hpp"
#include "collector/options.hpp"
#include "collector/policy/temperature.hpp"
#include "collector/statistics.hpp"
#include "guide/word.hpp"
#include "heap/object.hpp"

namespace isotherm::collector {

/// The process's memory when a window ends.
struct memory_state {
  std::uint64_t target_bytes;       ///< what the process may have; 0: nothing limits it
  std::uint64_t dram_bytes;         ///< what it has
  std::uint64_t warm_bytes;         ///< of what it has, the extents of NEW and HOT
  std::uint64_t warm_object_bytes;  ///< of these, what objects take
  std::uint64_t cold_objects;
  /// COLD that is not in its file yet, a part of dram_bytes: it leaves by itself, or, where the
  /// disk takes nothing, would only be joined by what had to leave for it.
  std::uint64_t cold_bytes = 0;
  double spread;  ///< extents over objects, after the last window; 0: none was
};

/// Figures that hold for the next window; window_statistics explains them.
struct outlook {
  unsigned cold_threshold = 0;
  double kept_rate = 0;
  unsigned rate_windows = 0;
};

/// Called by one thread, for each window in the order of the functions. Its functions return what
/// the policy decides; they change nothing but the policy's own state.
class policy {
 public:
  virtual ~policy() = default;
  virtual policy_name name() const noexcept = 0;

  /// A window has ended; no word has been aged.
  virtual void begin_ageing(const options& chosen) = 0;

  /// Ages the word of an object at the window's end. Its accessed bit tells whether the object was
  /// used, and is clear in the result.
  virtual guides::word age(guides::word w) = 0;

  /// Returns the share of the windows in which the object of an aged word is used, as far as it
  /// tells; 0: nothing is known of it.
  virtual rate rate_now(guides::word w) const noexcept = 0;

  /// All words have been aged, and `seen` counts the window's uses.
  virtual void weigh(const options& chosen, const memory_state& now,
                     const window_statistics& seen) = 0;

  /// Returns where the object of an aged word should go; nullopt: it stays. Called for an object of
  /// COLD only if it was used.
  virtual std::optional<heap::kind> target(guides::word w) = 0;

  /// Returns where an object of NEW should go when there is no room for it any more, before a
  /// window has aged its word; its accessed bit tells whether it was used since it was made.
  virtual heap::kind place_of_newborn(guides::word) const noexcept { return heap::kind::hot; }

  /// The band of HOT for the object of an aged word; `now`: of one that lies there, its band, which
  /// it leaves only when it is clearly another's.
  virtual heap::band band(guides::word, std::optional<heap::band> now) const noexcept {
    return now.value_or(heap::kColdestBand);
  }

  /// Returns which objects come back when they have been read for a use, between the ends of
  /// windows.
  virtual return_gate::rules returns() const = 0;

  /// Since the last window's end so much has come back so; it was found in HOT, and used.
  virtual void note_returned(const returned&) {}

  /// The word of an object that is to go to COLD, or was used there and stays, with what it has to
  /// remember while it is not aged.
  virtual guides::word resting(guides::word w) const noexcept { return w; }

  /// Bytes of objects that target() is going to move, as far as can be said before it is asked:
  /// their size classes'.
  virtual std::uint64_t expected_bytes() const noexcept = 0;

  /// Returns what holds for the next window. All that could move has moved, and COLD holds
  /// `cold_bytes`.
  virtual outlook adapt(const options& chosen, std::uint64_t cold_bytes,
                        const window_statistics& seen) = 0;

  /// How much of COLD may now be asked to leave DRAM, while tasks wait for memory in
  /// `pressure_percent` of the time.
  virtual std::uint64_t page_out_bytes(const options& chosen, const window_statistics& seen,
                                       double pressure_percent) = 0;
};

std::unique_ptr<policy> make_policy(policy_name name);

}  // namespace isotherm::collector
