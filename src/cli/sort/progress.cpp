#include "cli/sort/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "os/clock.hpp"

namespace isotherm::cli {
namespace {

/// Nobody may be there to read it: that is no error of the sort.
void show(const std::string& text) { std::fputs(text.c_str(), stderr); }

/// Returns how long a stage will still take, of which `part` is done since `began_ns`; nothing
/// while that is a guess.
std::string time_left(double part, std::uint64_t began_ns) {
  constexpr double kLeastPart = 0.02;
  constexpr double kLeastSeconds = 1;
  const double seconds = static_cast<double>(os::monotonic_ns() - began_ns) * 1e-9;
  if (part < kLeastPart || part >= 1 || seconds < kLeastSeconds) return "";
  const auto left = static_cast<std::uint64_t>(seconds * (1 - part) / part) + 1;
  if (left < 60) return fmt::format(", {} s left", left);
  return fmt::format(", {} min {} s left", left / 60, left % 60);
}

}  // namespace

sort_progress::sort_progress() : terminal_(::isatty(STDERR_FILENO) != 0) {}

void sort_progress::operator()(sort_stage stage, std::uint64_t done, std::uint64_t total) {
  const unsigned bit = 1u << static_cast<unsigned>(stage);
  const bool first = (seen_ & bit) == 0;
  seen_ |= bit;
  std::string text(name(stage));
  if (!terminal_) {
    if (first) show(text + '\n');
    return;
  }
  std::uint64_t& began_ns = began_ns_[static_cast<unsigned>(stage)];
  if (first) began_ns = os::monotonic_ns();
  if (total > 0) {
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    text += fmt::format(" {:.0f}%", std::floor(100 * part)) + time_left(part, began_ns);
  } else if (shown_.starts_with(text)) {
    return;  // its next percentage will do
  }
  if (!first && text == shown_) return;
  show((first && !shown_.empty() ? "\n" : "\r\033[K") + text);
  shown_ = std::move(text);
}

void sort_progress::finish() {
  if (!shown_.empty()) show("\n");
  shown_.clear();
}

}  // namespace isotherm::cli
