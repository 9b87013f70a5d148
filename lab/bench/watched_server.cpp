#include "lab/bench/watched_server.hpp"

#include <charconv>
#include <cstdlib>
#include <utility>

#include "base/check.hpp"

namespace isotherm::lab {
namespace {

/// Number after "`field`:" in an INFO text; 0 when there is none.
std::uint64_t info_number(const std::string& info, const std::string& field) {
  const std::size_t at = info.find("\n" + field + ":");
  if (at == std::string::npos) return 0;
  std::uint64_t value = 0;
  const char* digits = info.data() + at + field.size() + 2;
  std::from_chars(digits, info.data() + info.size(), value);
  return value;
}

using fields = tool::redis_connection::fields;

std::uint64_t whole(const fields& found, const std::string& name) {
  const auto at = found.find(name);
  return at == found.end() ? 0 : std::strtoull(at->second.c_str(), nullptr, 10);
}

std::string text(const fields& found, const std::string& name) {
  const auto at = found.find(name);
  return at == found.end() ? "" : at->second;
}

heap::usage usage_of(const fields& heaps, heap::kind where) {
  const std::string name(name_of(where));
  return {.objects = whole(heaps, name + ".objects"),
          .bytes = whole(heaps, name + ".bytes"),
          .extent_bytes = whole(heaps, name + ".extent_bytes"),
          .resident_bytes = whole(heaps, name + ".resident_bytes")};
}

/// Returns what the server's last window saw. Without management there is none.
window_sample sample_of(const fields& found) {
  window_sample sample;
  sample.rss_bytes = whole(found, "rss_bytes");
  sample.rss_peak_bytes = whole(found, "rss_peak_bytes");
  sample.dram_bytes = whole(found, "dram_bytes");
  if (whole(found, "window") == 0) return sample;
  sample.seen.emplace();
  for (const auto& each : collector::statistic_table()) {
    each.set(*sample.seen, text(found, std::string(each.name)));
  }
  return sample;
}

}  // namespace

base::result<watched_server> watched_server::connect(const tool::address& where) {
  watched_server made;
  if (where.speaks == tool::address::protocol::memcached) return made;
  auto connection = tool::redis_connection::open(where);
  if (!connection) return std::unexpected(connection.error());
  made.connection_ = std::move(*connection);
  // A Redis answers with an error: it has no such command.
  made.is_ours_ = made.stats().has_value();
  return made;
}

base::result<fields> watched_server::stats() { return connection().ask_fields("ISOTHERM STATS"); }

base::result<window_sample> watched_server::sample() {
  if (!connection_) return window_sample{};
  if (!is_ours_) return redis_sample();
  auto found = stats();
  if (!found) return std::unexpected(found.error());
  window_sample sample = sample_of(*found);
  if (!sample.seen) return sample;
  const auto heaps = connection().ask_fields("ISOTHERM HEAPS");
  if (!heaps) return std::unexpected(heaps.error());
  sample.heaps.emplace();
  for (const heap::kind where : heap::kKinds) (*sample.heaps)[where] = usage_of(*heaps, where);
  return sample;
}

tool::redis_connection& watched_server::connection() {
  ISO_CHECK(connection_.has_value(), "a server was connected to");
  return *connection_;
}

base::result<window_sample> watched_server::redis_sample() {
  const auto info = connection().ask("INFO memory");
  if (!info) return std::unexpected(info.error());
  window_sample sample;
  sample.rss_bytes = sample.dram_bytes = info_number(*info, "used_memory_rss");
  return sample;
}

base::result<workload::outcome> drive_watched(watched_server& server, const drive_function& drive,
                                              const time_left& left, const bench_plan& plan,
                                              window_recorder& windows) {
  base::result<window_sample> last = window_sample{};
  auto driven = drive([&](const workload::progress& now) {
    windows.watch(now);
    if (windows.window_age() < plan.asked.collector.window_seconds ||
        left(now) < plan.asked.collector.window_seconds / 2) {
      return true;
    }
    last = server.sample();
    if (last) windows.end_window(*last);
    return last.has_value();
  });
  if (!driven) return driven;
  if (last) last = server.sample();
  if (!last) return std::unexpected(last.error());
  windows.end_window(*last);
  return driven;
}

}  // namespace isotherm::lab
