// Lines of the log about events that clients cause, and could cause without end.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::server {

/// Gathers events of one kind: the first is reported at once, those within the next ten seconds in
/// one line after that time, so that no client can fill the log. Thread-safe.
class gathered_report {
 public:
  static constexpr std::int64_t kQuietMs = 10'000;

  /// A line is "`one` ADDRESS", or "COUNT `many` ADDRESS" with the address of the last event. Both
  /// texts outlive the report.
  gathered_report(std::string_view one, std::string_view many) noexcept : one_(one), many_(many) {}

  /// Notes an event caused by `address`; returns the line to write now, if there is one.
  std::optional<std::string> note(std::string_view address, std::int64_t now_ms);
  /// Returns the line to write now about events noted before, if there is one.
  std::optional<std::string> due(std::int64_t now_ms);
  /// Returns the line about all that is not yet reported, without waiting.
  std::optional<std::string> rest();

 private:
  std::optional<std::string> tell();  // under mutex_

  const std::string_view one_, many_;
  std::mutex mutex_;
  std::uint64_t untold_ = 0;
  std::string last_from_;
  std::optional<std::int64_t> told_ms_;
};

}  // namespace isotherm::server
