#include "server/gathered_report.hpp"

#include <fmt/format.h>

#include <utility>

namespace isotherm::server {

std::optional<std::string> gathered_report::note(std::string_view address, std::int64_t now_ms) {
  {
    const std::lock_guard lock(mutex_);
    ++untold_;
    last_from_ = address;
  }
  return due(now_ms);
}

std::optional<std::string> gathered_report::due(std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (told_ms_ && now_ms - *told_ms_ < kQuietMs && now_ms >= *told_ms_) return std::nullopt;
  if (untold_ > 0) told_ms_ = now_ms;
  return tell();
}

std::optional<std::string> gathered_report::rest() {
  const std::lock_guard lock(mutex_);
  return tell();
}

std::optional<std::string> gathered_report::tell() {
  const std::uint64_t count = std::exchange(untold_, 0);
  if (count == 0) return std::nullopt;
  if (count == 1) return fmt::format("{} {}", one_, last_from_);
  return fmt::format("{} {} {}", count, many_, last_from_);
}

}  // namespace isotherm::server
