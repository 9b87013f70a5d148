#include "server/log.hpp"

#include <fmt/format.h>
#include <spdlog/details/log_msg.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <exception>
#include <filesystem>
#include <memory>

#include "base/atomic.hpp"
#include "store/text.hpp"

namespace isotherm::server {
namespace {

/// Outlives every thread that logs.
struct all_of_it {
  all_of_it() {
    notices->set_pattern("%v");
    warnings->set_pattern("isotherm: %v");
  }
  std::shared_ptr<spdlog::sinks::sink> notices = std::make_shared<spdlog::sinks::stdout_sink_mt>();
  std::shared_ptr<spdlog::sinks::sink> warnings = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  std::shared_ptr<spdlog::sinks::sink> file;
  std::string path;
  /// Relaxed: a line of the old level may follow a change.
  base::atomic<log_level> least{log_level::notice};
};
all_of_it& state() {
  static auto* const made = new all_of_it;
  return *made;
}

}  // namespace

std::optional<log_level> parse_log_level(std::string_view text) noexcept {
  for (std::size_t i = 0; i < kLogLevels.size(); ++i) {
    if (store::equals_folded(text, kLogLevels[i])) return static_cast<log_level>(i);
  }
  return std::nullopt;
}

base::result<void> open_log(const std::string& path) {
  if (path.empty()) return {};
  // The library would make it.
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code none;
  if (!folder.empty() && !std::filesystem::is_directory(folder, none)) {
    return std::unexpected(base::error{"log file: there is no directory " + folder.string()});
  }
  try {
    auto file = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    file->set_pattern("%Y-%m-%d %H:%M:%S.%e %P %v");
    state().file = std::move(file);
    state().path = path;
  } catch (const spdlog::spdlog_ex& failed) {
    return std::unexpected(base::error{std::string("log file: ") + failed.what()});
  }
  return {};
}

const std::string& log_path() noexcept { return state().path; }

void set_log_level(log_level least) noexcept { state().least.store_relaxed(least); }
log_level chosen_log_level() noexcept { return state().least.load_relaxed(); }

namespace {

/// False: there is no file, or it does not take the line.
bool append_to_file(log_level level, std::string_view line) {
  const auto& file = state().file;
  if (!file) return false;
  try {
    const std::string named =
        fmt::format("{}: {}", kLogLevels[static_cast<std::size_t>(level)], line);
    file->log({"", spdlog::level::info, named});
    file->flush();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

void log(log_level level, std::string_view line) {
  if (level < chosen_log_level() || append_to_file(level, line)) return;
  const auto& sink = level == log_level::warning ? state().warnings : state().notices;
  try {
    sink->log({"", spdlog::level::info, spdlog::string_view_t(line.data(), line.size())});
    sink->flush();
  } catch (const std::exception&) {
    // A log that cannot be written ends no server.
  }
}

}  // namespace isotherm::server
