// A source of observations: it marks in a shadow the bytes that a program uses, window by window.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/atomic.hpp"
#include "base/error.hpp"
#include "pages/memory_image.hpp"
#include "pages/objects/object_table.hpp"
#include "pages/shadow.hpp"

namespace isotherm::pages {

/// The smallest unit of which a source tells whether it was used.
enum class grain : unsigned char { byte, page };

/// Facts about a source, which every report states.
struct source_traits {
  std::string name;     ///< "qemu", "trace (valgrind lackey)", "kernel page bits"
  std::string subject;  ///< the program, process or file that is observed
  grain smallest = grain::byte;
  bool counts_accesses = true;          ///< windows may be limited by accesses
  bool has_clock = true;                ///< windows may be limited by seconds
  std::vector<std::string> cannot_see;  ///< complete sentences
};

/// The length of a window. Empty: it lasts until the source or a request ends it.
struct window_limit {
  std::optional<std::uint64_t> accesses;
  std::optional<double> seconds;
};

/// Requests to a running observation. Sources look at them at least ten times a second.
struct requests {
  std::stop_token stop;                               ///< ends the window, and the observation
  const base::atomic<std::uint64_t>* cuts = nullptr;  ///< each increment ends a window
  std::uint64_t cuts_before = 0;                      ///< those that have ended earlier windows
  /// Told about ten times a second how far the window has come; may be empty.
  std::function<void(double seconds, std::uint64_t accesses)> progress;

  /// Returns whether the window is to end now.
  bool ask_for_end() const noexcept {
    return stop.stop_requested() || (cuts != nullptr && cuts->load_relaxed() != cuts_before);
  }
};

/// A window that has ended. Its marks lie in `area` of the source's shadow, complete, until the
/// reader clears that area.
struct window {
  unsigned area = 0;
  double seconds = 0;
  std::uint64_t accesses = 0;  ///< 0 where the source does not count them
  memory_image memory;         ///< at the end of the window
  bool last = false;           ///< the program or trace has ended, or a stop was requested
  bool replaced = false;       ///< the program has made way for another one: the next window's
  bool lost = false;           ///< the last one: its marks went with the program, no figures
};

/// Owned and called by one thread.
class source {
 public:
  virtual ~source() = default;
  virtual const source_traits& traits() const = 0;
  /// Observes one window, from now on. The area that the window before did not have must have been
  /// cleared. Not to be called after a window that was the last.
  virtual base::result<window> observe(const window_limit& limit, const requests& asked) = 0;
  virtual const shadow& marks() const = 0;
  /// The live objects at the end of the window before; null where they are not traced.
  virtual const object_table* objects() const { return nullptr; }
  /// Lets the observed program end, where the source has started it, and returns the exit status
  /// for the tool: the program's own, or 128 + n after signal n. To be called once, last.
  virtual int finish(const requests&) { return 0; }
  /// Facts that only the run has shown, complete sentences: lines that could not be read, a program
  /// that was replaced. After finish().
  virtual std::vector<std::string> remarks() const { return {}; }
};

}  // namespace isotherm::pages
