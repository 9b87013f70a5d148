// What the log says about clients that give a wrong password.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::server {

/// Combines reports: the first wrong password is reported at once, those within the next ten
/// seconds together after that time, so that nobody can fill the log by guessing. Thread-safe.
class wrong_passwords {
 public:
  static constexpr std::int64_t kQuietMs = 10'000;

  /// Notes a wrong password from `address`; returns the line to write now, if there is one.
  std::optional<std::string> note(std::string_view address, std::int64_t now_ms);
  /// The line to write now about those noted before, if there is one.
  std::optional<std::string> due(std::int64_t now_ms);
  /// Likewise at the end, without waiting.
  std::optional<std::string> rest();

 private:
  std::optional<std::string> tell();  // under mutex_

  std::mutex mutex_;
  std::uint64_t untold_ = 0;
  std::string last_from_;
  std::optional<std::int64_t> told_ms_;
};

}  // namespace isotherm::server
