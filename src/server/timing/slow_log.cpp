#include "server/timing/slow_log.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isotherm::server {

std::vector<std::string> slow_log::shortened(std::span<const std::string_view> arguments) {
  constexpr std::size_t kArguments = 32, kBytes = 128;
  const bool is_long = arguments.size() > kArguments;
  const std::size_t kept = is_long ? kArguments - 1 : arguments.size();
  std::vector<std::string> all;
  all.reserve(kept + 1);
  for (const auto each : arguments.first(kept)) {
    all.emplace_back(each.substr(0, kBytes));
    if (each.size() > kBytes)
      all.back() += fmt::format("... ({} more bytes)", each.size() - kBytes);
  }
  if (is_long) all.push_back(fmt::format("... ({} more arguments)", arguments.size() - kept));
  return all;
}

void slow_log::add(entry made, std::size_t most) {
  const std::lock_guard lock(mutex_);
  made.id = next_id_++;
  entries_.push_front(std::move(made));
  if (entries_.size() > most) entries_.resize(most);
}

std::vector<slow_log::entry> slow_log::newest(std::size_t most) const {
  const std::lock_guard lock(mutex_);
  const auto count = static_cast<std::ptrdiff_t>(std::min(most, entries_.size()));
  return {entries_.begin(), entries_.begin() + count};
}

std::size_t slow_log::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

void slow_log::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
}

void error_counts::count(std::string_view code) {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(code);
  found != counts_.end() ? ++found->second : counts_.emplace(code, 1).first->second;
}

std::map<std::string, std::uint64_t, std::less<>> error_counts::all() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

std::uint64_t error_counts::sum() const {
  std::uint64_t all = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& [code, count] : counts_) all += count;
  return all;
}

void error_counts::reset() {
  const std::lock_guard lock(mutex_);
  counts_.clear();
}

void latency_events::add(std::string_view event, moment when) {
  const std::lock_guard lock(mutex_);
  auto found = events_.find(event);
  if (found == events_.end()) found = events_.emplace(event, seen{}).first;
  seen& of = found->second;
  of.most_ms = std::max(of.most_ms, when.ms);
  if (!of.moments.empty() && of.moments.back().time_s == when.time_s) {
    of.moments.back().ms = std::max(of.moments.back().ms, when.ms);
    return;
  }
  of.moments.push_back(when);
  if (of.moments.size() > kKept) of.moments.pop_front();
}

std::vector<latency_events::latest_of> latency_events::latest() const {
  const std::lock_guard lock(mutex_);
  std::vector<latest_of> all;
  all.reserve(events_.size());
  for (const auto& [name, of] : events_) all.push_back({name, of.moments.back(), of.most_ms});
  return all;
}

std::vector<latency_events::moment> latency_events::history(std::string_view event) const {
  const std::lock_guard lock(mutex_);
  const auto found = events_.find(event);
  if (found == events_.end()) return {};
  return {found->second.moments.begin(), found->second.moments.end()};
}

std::size_t latency_events::reset(std::string_view event) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = events_.size();
  if (event.empty()) {
    events_.clear();
  } else if (const auto found = events_.find(event); found != events_.end()) {
    events_.erase(found);
  }
  return before - events_.size();
}

}  // namespace isotherm::server
