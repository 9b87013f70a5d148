// INFO: the state of the process in Redis' sections and field names, and one section of our own.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "heap/cold/statistics.hpp"
#include "server/commands/families.hpp"
#include "server/figures.hpp"
#include "server/server.hpp"
#include "store/text.hpp"

namespace isotherm::server {

using namespace store;

namespace {

std::string server_section(server& server, std::int64_t now) {
  utsname system{};
  ::uname(&system);
  const std::int64_t uptime = (now - server.started_ms()) / 1000;
  return fmt::format(
      "redis_version:{}\r\nredis_mode:standalone\r\nserver_name:crestdb\r\nos:{} {} {}\r\n"
      "arch_bits:64\r\nmultiplexing_api:epoll\r\nprocess_id:{}\r\nrun_id:{:040x}\r\n"
      "tcp_port:{}\r\nserver_time_usec:{}\r\nuptime_in_seconds:{}\r\nuptime_in_days:{}\r\n"
      "io_threads_active:1\r\nexecutable:isotherm\r\nconfig_file:\r\n",
      kRedisVersion, system.sysname, system.release, system.machine, ::getpid(),
      static_cast<std::uint64_t>(server.started_ms()), server.port(), now * 1000, uptime,
      uptime / 86400);
}

std::string clients_section(server& server, std::int64_t) {
  const auto all = server.clients().all();
  const auto is_blocked = [](const auto& each) { return each->is_blocked.load_relaxed(); };
  return fmt::format("connected_clients:{}\r\nmaxclients:{}\r\nblocked_clients:{}\r\n", all.size(),
                     server.tuning().maxclients.load_relaxed(),
                     std::ranges::count_if(all, is_blocked));
}

std::string memory_section(server& server, std::int64_t) {
  auto& meter = server.db().memory();
  const std::uint64_t used = meter.sample(), resident = resident_bytes();
  const std::uint64_t limit = server.tuning().maxmemory.load_relaxed();
  const std::uint64_t target = server.manager() ? server.manager()->memory_target_bytes() : 0;
  const auto dram = server.dram_now();
  return fmt::format(
      "used_memory:{}\r\nused_memory_human:{}\r\nused_memory_rss:{}\r\nused_memory_rss_human:{}\r\n"
      "used_memory_peak:{}\r\nused_memory_peak_human:{}\r\nmaxmemory:{}\r\nmaxmemory_human:{}\r\n"
      "memory_target_bytes:{}\r\nmem_clients_normal:{}\r\nmaxmemory_policy:noeviction\r\n"
      "mem_fragmentation_ratio:{:.2f}\r\nmem_allocator:jemalloc\r\n"
      "dram_data:{}\r\ndram_index_nodes:{}\r\ndram_clients:{}\r\ndram_allocator:{}\r\n"
      "dram_rest:{}\r\n",
      used, human_bytes(used), resident, human_bytes(resident), meter.peak_bytes(),
      human_bytes(meter.peak_bytes()), limit, human_bytes(limit), target, dram.clients,
      used ? static_cast<double>(resident) / static_cast<double>(used) : 0.0, dram.data, dram.nodes,
      dram.clients, dram.allocator, dram.rest);
}

std::string persistence_section(server&, std::int64_t) {
  return "loading:0\r\npersistence:none\r\nrdb_changes_since_last_save:0\r\n"
         "rdb_bgsave_in_progress:0\r\nrdb_last_save_time:0\r\nrdb_last_bgsave_status:ok\r\n"
         "aof_enabled:0\r\naof_rewrite_in_progress:0\r\n";
}

void add_figures(std::string& text, server& server, server_figure::section which) {
  for (const server_figure& each : server_figures()) {
    if (each.info_section != which) continue;
    text += fmt::format("{}:{}\r\n", each.info_name, each.get(server));
  }
}

std::string stats_section(server& server, std::int64_t) {
  std::string text;
  add_figures(text, server, server_figure::section::stats);
  return text + "evicted_keys:0\r\n";
}

std::string replication_section(server&, std::int64_t) {
  return "role:master\r\nconnected_slaves:0\r\nmaster_failover_state:no-failover\r\n"
         "master_repl_offset:0\r\n";
}

std::string cpu_section(server&, std::int64_t) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return fmt::format("used_cpu_sys:{}.{:06}\r\nused_cpu_user:{}.{:06}\r\n", usage.ru_stime.tv_sec,
                     usage.ru_stime.tv_usec, usage.ru_utime.tv_sec, usage.ru_utime.tv_usec);
}

/// A line for each command for which `is_told`, by its name as in "cmdstat_config|get".
template <class IsTold, class Line>
std::string line_for_each_command(server& server, IsTold is_told, Line line) {
  std::string text;
  const auto& all = server.commands().callables();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const command_counts counted = server.counts_of(i);
    if (is_told(counted)) text += line(all[i].name, counted) + "\r\n";
  }
  return text;
}

std::string commandstats_section(server& server, std::int64_t) {
  return line_for_each_command(
      server, [](const command_counts& counted) { return counted.is_any(); },
      [](std::string_view name, const command_counts& counted) {
        const double us = static_cast<double>(counted.times.sum()) / 1000;
        const auto calls = static_cast<double>(std::max<std::uint64_t>(counted.calls(), 1));
        return fmt::format(
            "cmdstat_{}:calls={},usec={:.0f},usec_per_call={:.2f},rejected_calls={},"
            "failed_calls={}",
            name, counted.calls(), us, us / calls, counted.rejected, counted.failed);
      });
}

std::string latencystats_section(server& server, std::int64_t) {
  return line_for_each_command(
      server, [](const command_counts& counted) { return counted.calls() > 0; },
      [](std::string_view name, const command_counts& counted) {
        const auto us = [&](double share) {
          return static_cast<double>(quantile_us(counted.times, share));
        };
        return fmt::format("latency_percentiles_usec_{}:p50={:.3f},p99={:.3f},p99.9={:.3f}", name,
                           us(0.5), us(0.99), us(0.999));
      });
}

std::string errorstats_section(server& server, std::int64_t) {
  std::string text;
  for (const auto& [code, count] : server.errors_by_code.all()) {
    text += fmt::format("errorstat_{}:count={}\r\n", code, count);
  }
  return text;
}

std::string cluster_section(server&, std::int64_t) { return "cluster_enabled:0\r\n"; }

std::string keyspace_section(server& server, std::int64_t) {
  if (server.db().keys() == 0) return {};
  return fmt::format("db0:keys={},expires={},avg_ttl={}\r\n", server.db().keys(),
                     server.db().expiring_keys(), server.db().average_ttl_ms());
}

std::string isotherm_section(server& server, std::int64_t) {
  std::string text = fmt::format(
      "index:{}\r\nmanage:{}\r\nthreads:{}\r\n", server.db().index().name(),
      server.manager() ? server.manager()->mode() : "off", server.start_options().threads);
  if (!server.manager()) return text;
  const auto last = server.manager()->last_window();
  text += fmt::format("problem:{}\r\n", server.manager()->problem());
  add_figures(text, server, server_figure::section::isotherm);
  text += fmt::format("cold_read_engine:{}\r\n", server.read_engine());
  const heap::cold_read_statistics reads = heap::cold_reads();
  for (const auto& each : heap::cold_statistic_table()) {
    text += fmt::format("{}:{}\r\n", each.name, each.get(reads));
  }
  const heap::cold_file_statistics file = heap::cold_file();
  for (const auto& each : heap::cold_file_table()) {
    text += fmt::format("{}:{}\r\n", each.name, each.get(file));
  }
  for (const auto& each : collector::statistic_table()) {
    if (!each.info_decimals) continue;
    const double value = std::visit([](auto v) { return static_cast<double>(v); }, each.get(last));
    text += fmt::format("{}:{:.{}f}\r\n", each.name, value, *each.info_decimals);
  }
  const auto heaps = server.manager()->heaps();
  for (const heap::kind where : heap::kKinds) {
    text += fmt::format("heap_{}", name_of(where));
    char before = ':';
    for (const auto& each : heap::usage_table()) {
      text += fmt::format("{}{}={}", std::exchange(before, ','), each.name, each.get(heaps[where]));
    }
    text += "\r\n";
  }
  return text;
}

struct section {
  std::string_view name, title;
  std::string (*text)(server&, std::int64_t now);
  bool is_default = true;  ///< told when none is named
};
constexpr section kSections[] = {
    {"server", "Server", server_section},
    {"clients", "Clients", clients_section},
    {"memory", "Memory", memory_section},
    {"persistence", "Persistence", persistence_section},
    {"stats", "Stats", stats_section},
    {"replication", "Replication", replication_section},
    {"cpu", "CPU", cpu_section},
    {"commandstats", "Commandstats", commandstats_section, false},
    {"latencystats", "Latencystats", latencystats_section, false},
    {"errorstats", "Errorstats", errorstats_section},
    {"cluster", "Cluster", cluster_section},
    {"keyspace", "Keyspace", keyspace_section},
    {"isotherm", "Isotherm", isotherm_section},
};

bool is_asked_for(const call& c, const section& which) {
  if (c.count() == 1) return which.is_default;
  for (const auto word : c.arguments.subspan(1)) {
    if (equals_folded(word, which.name) || equals_folded(word, "all") ||
        equals_folded(word, "everything") || (which.is_default && equals_folded(word, "default"))) {
      return true;
    }
  }
  return false;
}

void answer(reply& out, server& server, std::span<const section* const> asked, std::int64_t now) {
  std::string text;
  for (const section* const each : asked) {
    if (!text.empty()) text += "\r\n";
    text += fmt::format("# {}\r\n", each->title);
    text += each->text(server, now);
  }
  out.verbatim("txt", text);
}

/// Deferred where the heaps are told of: to count their pages in DRAM takes a quarter of a
/// millisecond for each 10 MiB of COLD, for which other clients would wait.
void info(call& c) {
  std::vector<const section*> asked;
  bool tells_heaps = false;
  for (const section& each : kSections) {
    if (!is_asked_for(c, each)) continue;
    asked.push_back(&each);
    tells_heaps |= each.text == isotherm_section;
  }
  server& server = sender(c).server;
  if (!tells_heaps || !server.manager()) return answer(c.out, server, asked, c.now);
  server.defer(sender(c), [&server, asked = std::move(asked), now = c.now](reply& out) {
    answer(out, server, asked, now);
  });
}

constexpr command kCommands[] = {
    {"info",
     -1,
     kDangerous,
     {},
     info,
     "server",
     "1.0.0",
     "Get information and statistics about the server"},
};

}  // namespace

std::span<const command> info_commands() { return kCommands; }

}  // namespace isotherm::server
