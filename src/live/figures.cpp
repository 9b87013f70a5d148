#include "live/figures.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "heap/cold/statistics.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::live {

namespace {

using course = base::figure::course;
constexpr std::string_view kMicroseconds = "microseconds", kMicrosecondsEnd = "_us";

/// Quotes the value of a label: backslashes, quotes and ends of lines are escaped.
std::string label_text(std::string_view text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '\n') {
      out += "\\n";
      continue;
    }
    if (letter == '\\' || letter == '"') out += '\\';
    out += letter;
  }
  return out + '"';
}

/// Adds the lines that stand before the samples of a metric.
void add_head(std::string& text, std::string_view name, std::string_view help, course over_time) {
  fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                 over_time == course::counter ? "counter" : "gauge");
}

void add_heaps(std::string& text, const heap::per_kind<heap::usage>& heaps) {
  for (const auto& field : heap::usage_table()) {
    const std::string name = fmt::format("isotherm_heap_{}", field.name);
    add_head(text, name, field.help, course::gauge);
    for (const heap::kind where : heap::kKinds) {
      fmt::format_to(std::back_inserter(text), "{}{{heap=\"{}\"}} {}\n", name, name_of(where),
                     field.get(heaps[where]));
    }
  }
}

void add_histogram(std::string& text, const duration_histogram& of) {
  const std::string name = fmt::format("isotherm_{}_seconds", of.name);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "# HELP {} {}\n# TYPE {} histogram\n", name, of.help, name);
  const std::uint64_t all = of.up_to.empty() ? 0 : of.up_to.back().second;
  for (const auto& [end_us, count] : of.up_to) {
    fmt::format_to(out, "{}_bucket{{le=\"{}e-6\"}} {}\n", name, end_us, count);
  }
  fmt::format_to(out, "{}_bucket{{le=\"+Inf\"}} {}\n{}_sum {}e-6\n{}_count {}\n", name, all, name,
                 of.sum_us, name, all);
}

duration_histogram read_durations(const heap::cold_read_statistics& reads) {
  duration_histogram told{.name = "cold_read_duration",
                          .help = "times of the reads for misses",
                          .up_to = {},
                          .sum_us = static_cast<double>(reads.wait_us)};
  std::uint64_t within = 0;
  for (std::size_t b = 0; b < reads.waits.size(); ++b) {
    within += reads.waits[b];
    told.up_to.emplace_back(static_cast<double>(std::uint64_t{2} << b), within);
  }
  return told;
}

void add_one(std::string& text, std::string_view name, std::string_view help, course over_time,
             double value) {
  add_head(text, name, help, over_time);
  fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

/// Adds the metrics of a process that Prometheus' own client libraries export.
void add_process(std::string& text) {
  const os::process_facts now = os::read_process_facts();
  add_one(text, "process_cpu_seconds_total", "processor time", course::counter, now.cpu_seconds);
  add_one(text, "process_start_time_seconds", "start of the process, since 1970", course::gauge,
          now.start_seconds);
  add_one(text, "process_resident_memory_bytes", "resident set", course::gauge,
          static_cast<double>(now.resident_bytes));
  add_one(text, "process_virtual_memory_bytes", "address space", course::gauge,
          static_cast<double>(now.virtual_bytes));
  add_one(text, "process_open_fds", "open files", course::gauge,
          static_cast<double>(now.open_files));
  add_one(text, "process_max_fds", "limit of open files", course::gauge,
          static_cast<double>(now.most_files));
  add_head(text, "isotherm_build_info", "version of the program: always 1", course::gauge);
  text += "isotherm_build_info{version=\"" ISOTHERM_VERSION "\"} 1\n";
}

}  // namespace

void add_window(const collector::window_statistics& last, std::vector<shown_figure>& figures) {
  const auto table = collector::statistic_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto& each = table[i];
    const double total = i < last.totals.size() ? last.totals[i] : 0;
    figures.push_back({each, each.get(last), each.is_summed ? std::optional(total) : std::nullopt});
  }
}

void add_cold_reads(const heap::cold_read_statistics& now, snapshot& seen) {
  seen.reads = now;
  add_figures(heap::cold_statistic_table(), now, seen.figures);
}

std::string to_json(const snapshot& seen) {
  nlohmann::json facts = nlohmann::json::object(), figures = facts, heaps = facts;
  for (const auto& [name, text] : seen.facts) facts[std::string(name)] = text;
  for (const auto& each : seen.figures) {
    std::visit([&](auto value) { figures[std::string(each.name)] = value; }, each.value);
  }
  if (seen.heaps) {
    for (const heap::kind where : heap::kKinds) {
      auto& one = heaps[std::string(name_of(where))];
      for (const auto& field : heap::usage_table()) {
        one[std::string(field.name)] = field.get((*seen.heaps)[where]);
      }
    }
  }
  nlohmann::json all{{"facts", facts}, {"figures", figures}, {"heaps", heaps}};
  if (seen.reads) all["cold_read_waits"] = seen.reads->waits;
  return all.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string metric_name(const shown_figure& shown) {
  static constexpr std::pair<std::string_view, std::string_view> kNouns[] = {
      {"window", "windows"}, {"vetoed", "vetoed_moves"}, {"failed", "failed_moves"}};
  std::string_view name = shown.name;
  for (const auto& [bare, full] : kNouns) {
    if (name == bare) name = full;
  }
  const bool is_counter = shown.over_time == course::counter || shown.total || name == "windows";
  const bool is_in_us = shown.unit == kMicroseconds && name.ends_with(kMicrosecondsEnd);
  if (is_in_us) name.remove_suffix(kMicrosecondsEnd.size());
  return fmt::format("isotherm_{}{}{}", name, is_in_us ? "_seconds" : "",
                     is_counter ? "_total" : "");
}

std::string to_metrics(const snapshot& seen) {
  std::string text;
  add_head(text, "isotherm_info", "what serves: always 1", course::gauge);
  text += "isotherm_info{";
  for (const auto& [name, value] : seen.facts) {
    fmt::format_to(std::back_inserter(text), "{}={},", name, label_text(value));
  }
  text += "} 1\n";
  for (const auto& each : seen.figures) {
    const std::string name = metric_name(each);
    const bool is_total = name.ends_with("_total");
    const std::string help = fmt::format("{}{}", each.help, each.total ? ", in all windows" : "");
    add_head(text, name, help, is_total ? course::counter : course::gauge);
    const auto value = each.total
                           ? fmt::format("{}", *each.total)
                           : std::visit([](auto v) { return fmt::format("{}", v); }, each.value);
    const bool is_in_us = each.unit == kMicroseconds;
    fmt::format_to(std::back_inserter(text), "{} {}{}\n", name, value, is_in_us ? "e-6" : "");
  }
  if (seen.heaps) add_heaps(text, *seen.heaps);
  if (seen.reads) add_histogram(text, read_durations(*seen.reads));
  for (const duration_histogram& each : seen.durations) add_histogram(text, each);
  add_process(text);
  return text;
}

}  // namespace isotherm::live
