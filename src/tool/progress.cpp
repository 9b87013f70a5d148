#include "tool/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace isotherm::tool {

record_progress show_progress(shown when, std::string_view task) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (!terminal && when == shown::on_terminal) return {};
  const std::uint64_t step = terminal ? 1 : 10;
  return [=, last = std::uint64_t{0}](std::uint64_t done, std::uint64_t total) mutable {
    const std::uint64_t percent = done * 100 / total / step * step;
    if (percent == last) return;
    last = percent;
    std::string line = "\r\033[K";
    if (!terminal) {
      line = fmt::format("{} {}%\n", task, percent);
    } else if (done != total) {
      line = fmt::format("\r{} {}%", task, percent);
    }
    std::fputs(line.c_str(), stderr);  // nobody may be there to read it, which is no error
  };
}

void progress_sum::add(std::uint64_t records) {
  if (!told_) return;
  const std::lock_guard guard(lock_);
  done_ += records;
  told_(done_, total_);
}

}  // namespace isotherm::tool
