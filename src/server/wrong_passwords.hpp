// What the log says of clients that give a wrong password.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace isotherm::server {

/// Makes one line of many: the first wrong password is told at once, those that follow within ten
/// seconds together when these are over, so that who guesses cannot fill the log. Thread-safe.
class wrong_passwords {
 public:
  static constexpr std::int64_t kQuietMs = 10'000;

  /// One more, from the client at `address`; the line to write now, if there is one.
  std::optional<std::string> note(std::string_view address, std::int64_t now_ms);
  /// The line to write now of those that were noted before, if there is one.
  std::optional<std::string> due(std::int64_t now_ms);
  /// The same at the end, when nothing more will be noted.
  std::optional<std::string> rest();

 private:
  std::optional<std::string> tell();  // under mutex_

  std::mutex mutex_;
  std::uint64_t untold_ = 0;
  std::string last_from_;
  std::optional<std::int64_t> told_ms_;
};

}  // namespace isotherm::server
