// The log: lines that the server writes for its operator as it runs.
//
// Without a file, lines of `notice` go to standard output and warnings to standard error, as they
// are: systemd and containers add the time. In a file each line has its time and level; lines that
// a full disk does not take go to the streams.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace isotherm::server {

/// Redis' levels; `verbose` also tells of clients that come and go.
enum class log_level : std::uint8_t { debug, verbose, notice, warning };
inline constexpr std::array<std::string_view, 4> kLogLevels{"debug", "verbose", "notice",
                                                            "warning"};
/// Finds a level by its name in any case; nullopt: there is none.
std::optional<log_level> parse_log_level(std::string_view text) noexcept;

/// From now on lines are appended to the file at `path`, which is made if need be; empty: there is
/// none. Fails with one line. Before other threads log.
base::result<void> open_log(const std::string& path);
/// The path that open_log() was given.
const std::string& log_path() noexcept;

/// Lines below the level are left out: `notice` at first. Any thread.
void set_log_level(log_level least) noexcept;
log_level chosen_log_level() noexcept;

/// Tells a line, without its end. Any thread; writes at once.
void log(log_level level, std::string_view line);

}  // namespace isotherm::server
