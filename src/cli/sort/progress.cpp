#include "cli/sort/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

namespace isotherm::cli {
namespace {

/// Nobody may be there to read it: that is no error of the sort.
void show(const std::string& text) { std::fputs(text.c_str(), stderr); }

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
  if (total > 0) {
    const double part = static_cast<double>(done) / static_cast<double>(total);
    text += fmt::format(" {:.0f}%", std::floor(100 * std::min(1.0, part)));
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
