// A frame of `isotherm top` as lines of text. Pure.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "top/observation.hpp"
#include "top/picture.hpp"

namespace isotherm::top {

/// The observations: the last one, and curves of those before it.
class history {
 public:
  /// `server` is how the user named it.
  explicit history(std::string server) : server_(std::move(server)) {}

  void add(observation seen);

  const std::string& server() const noexcept { return server_; }
  const observation& last() const noexcept { return last_; }
  /// Values of a statistic, the oldest first.
  std::vector<double> curve(const std::string& name) const;
  /// Gains of a counter a second, the oldest first; for the first observation, no number.
  std::vector<double> rate(const std::string& name) const;

 private:
  std::string server_;
  observation last_;
  std::deque<observation> all_;  ///< without their maps
};

struct window_size {
  std::size_t columns = 80, rows = 24;
};

/// At most `size.rows` lines of at most `size.columns` characters each, escape sequences not
/// counted.
std::vector<std::string> render(const history& seen, const text_style& style, window_size size);

}  // namespace isotherm::top
