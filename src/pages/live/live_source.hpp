// Observes a process that runs already, by the accessed bits of its page tables:
// /proc/PID/clear_refs clears them, /proc/PID/smaps counts those that were set since.
#pragma once

#include <string>
#include <vector>

#include "os/files/file.hpp"
#include "pages/source.hpp"

namespace isotherm::pages {

/// Marks as many resident pages of a mapping as were used, from its begin on: the kernel counts
/// pages, and does not tell which they are.
class live_source final : public source {
 public:
  /// Errors: there is no such process, it belongs to another user, or it is a thread of the kernel.
  static base::result<live_source> open(int pid);

  const source_traits& traits() const override { return traits_; }
  /// Marks in area 0. Looks at requests ten times a second. Fails when the process ends within the
  /// first window; one that it ends within later is lost.
  base::result<window> observe(const window_limit& limit, const requests& asked) override;
  const shadow& marks() const override { return marks_; }
  std::vector<std::string> remarks() const override;

 private:
  live_source(int pid, os::file process, shadow marks);
  /// Waits for the end of the window. Returns whether it is the last.
  base::result<bool> wait(const window_limit& limit, const requests& asked) const;
  base::result<void> clear_uses();
  base::result<void> read_uses(window& ended);
  base::result<bool> has_ended() const { return process_.readable(0); }
  /// The outcome of a window in which a call has failed with `problem`.
  base::result<window> unfinished(window ended, const base::error& problem);
  std::string path_of(const char* file) const;

  int pid_;
  os::file process_;  ///< readable once the process has ended
  shadow marks_;
  source_traits traits_;
  unsigned complete_ = 0;  ///< windows
  bool lost_ = false;
  double clearing_seconds_ = 0, reading_seconds_ = 0;  ///< longest of all windows
};

}  // namespace isotherm::pages
