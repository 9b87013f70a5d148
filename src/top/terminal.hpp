// The terminal that `isotherm top` draws on, and the signals that it heeds.
#pragma once

#include <termios.h>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "top/frame.hpp"

namespace isotherm::top {

/// Returns the style that the environment and the terminal allow: no colours with NO_COLOR or
/// TERM=dumb or where standard output is no terminal, no blocks where the locale is none of UTF-8.
text_style style_of_environment();

/// Returns the size of the terminal on standard output; 80 x 24, or COLUMNS x LINES, where there is
/// none.
window_size size_of_window();

/// For its life standard input and output are a full-screen program's: keys come at once and
/// unseen, a second screen is shown, and signals to end or of a new size end a wait. Restores
/// everything. At most one at a time, on one thread.
class terminal {
 public:
  /// An error where standard input or output is no terminal.
  static base::result<void> check();

  terminal();
  ~terminal();
  terminal(const terminal&) = delete;
  terminal& operator=(const terminal&) = delete;

  void draw(const std::vector<std::string>& lines);

  enum class event : std::uint8_t { timeout, resized, quit };
  /// Waits for at most so long; quit: q, Ctrl-C, a signal to end, or the terminal has gone.
  event wait(std::chrono::milliseconds limit);

 private:
  termios before_;
};

}  // namespace isotherm::top
