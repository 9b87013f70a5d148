// Nothing is listed here a second time: what the tables have is shown.
#include "live/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "heap/cold/statistics.hpp"

namespace isotherm::live {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using course = base::figure::course;

snapshot of_a_window() {
  snapshot seen{.facts = {{"index", "hash-pugh"}}, .heaps = heap::per_kind<heap::usage>{}};
  collector::window_statistics last;
  last.window = 7;
  last.page_utilization = 0.25;
  last.demoted.bytes = ~std::uint64_t{0};
  add_window(last, seen.figures);
  heap::cold_read_statistics reads;
  reads.misses = 3;
  reads.waits[6] = 1;
  reads.waits[9] = 2;
  reads.wait_us = 1700;
  add_cold_reads(reads, seen);
  constexpr heap::cold_file_statistics kFile{
      .written_bytes = 4, .file_bytes = 5, .memory_bytes = 6};
  add_figures(heap::cold_file_table(), kFile, seen.figures);
  constexpr heap::footprint kMemory{.rss = 1, .rss_peak = 2, .dram = 3};
  add_figures(heap::footprint_table(), kMemory, seen.figures);
  (*seen.heaps)[heap::kind::cold].objects = 9;
  return seen;
}

TEST(Figures, JsonHasEachRowOfTheTables) {
  const auto all = nlohmann::json::parse(to_json(of_a_window()));
  for (const auto& each : collector::statistic_table()) {
    EXPECT_TRUE(all["figures"].contains(each.name)) << each.name;
  }
  for (const auto& each : heap::cold_statistic_table()) {
    EXPECT_TRUE(all["figures"].contains(each.name)) << each.name;
  }
  EXPECT_EQ(all["figures"]["cold_file_bytes"], 5);
  EXPECT_EQ(all["figures"]["window"], 7);
  EXPECT_EQ(all["figures"]["page_utilization"], 0.25);
  EXPECT_EQ(all["figures"]["demoted_bytes"], ~std::uint64_t{0});
  EXPECT_EQ(all["figures"]["cold_read_p50_us"], 1024);
  EXPECT_EQ(all["cold_read_waits"][6], 1);
  EXPECT_EQ(all["cold_read_waits"].size(), heap::cold_read_statistics::kWaits);
  EXPECT_EQ(all["figures"]["dram_bytes"], 3);
  EXPECT_EQ(all["heaps"]["cold"]["objects"], 9);
  for (const auto& field : heap::usage_table()) {
    EXPECT_TRUE(all["heaps"]["new"].contains(field.name)) << field.name;
  }
  EXPECT_EQ(all["facts"]["index"], "hash-pugh");
}

TEST(Figures, JsonIsWholeWhateverTheWordsAre) {
  snapshot seen{.facts = {{"problem", "a \"\n\xff"}}};
  seen.figures.push_back(
      {{"endless", "", "", course::gauge}, std::numeric_limits<double>::infinity()});
  const auto all = nlohmann::json::parse(to_json(seen));
  EXPECT_THAT(std::string(all["facts"]["problem"]), HasSubstr("a \"\n"));
  EXPECT_TRUE(all["figures"]["endless"].is_null());
  EXPECT_TRUE(all["heaps"].empty());
}

TEST(Figures, MetricsHaveNamesByTheRule) {
  EXPECT_EQ(metric_name({{"keys", "keys", "", course::gauge}, std::uint64_t{0}}), "isotherm_keys");
  EXPECT_EQ(metric_name({{"commands", "", "", course::counter}, std::uint64_t{0}}),
            "isotherm_commands_total");
  EXPECT_EQ(
      metric_name({{"cold_read_p99_us", "microseconds", "", course::gauge}, std::uint64_t{0}}),
      "isotherm_cold_read_p99_seconds");
  EXPECT_EQ(metric_name({{"failed", "moves", "", course::gauge}, std::uint64_t{0}, 7.0}),
            "isotherm_failed_moves_total");
  EXPECT_EQ(metric_name({{"window", "", "", course::gauge}, std::uint64_t{0}}),
            "isotherm_windows_total");
}

TEST(Figures, MetricsSumWhatWindowsCount) {
  collector::window_statistics first, second;
  first.promoted.objects = 3;
  first.scan_seconds = 0.5;
  first = with_totals(first, {});
  second.promoted.objects = 4;
  second.scan_seconds = 0.25;
  second.page_utilization = 0.5;
  second = with_totals(second, first);
  snapshot seen;
  add_window(second, seen.figures);
  const std::string text = to_metrics(seen);
  EXPECT_THAT(text, HasSubstr("\nisotherm_promoted_objects_total 7\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_scan_seconds_total 0.75\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_page_utilization 0.5\n"));
  EXPECT_EQ(nlohmann::json::parse(to_json(seen))["figures"]["promoted_objects"], 4);
}

TEST(Figures, MetricsTellTheProcessAndDurations) {
  snapshot seen;
  seen.durations.push_back({"reply_duration", "times of replies", {{1, 2}, {2, 5}}, 7});
  const std::string text = to_metrics(seen);
  EXPECT_THAT(text, HasSubstr("\nisotherm_reply_duration_seconds_bucket{le=\"1e-6\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_reply_duration_seconds_bucket{le=\"+Inf\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_reply_duration_seconds_sum 7e-6\n"));
  EXPECT_THAT(text, HasSubstr("\nprocess_cpu_seconds_total "));
  EXPECT_THAT(text, HasSubstr("\nisotherm_build_info{version="));
}

TEST(Figures, MetricsTellEachOnceWithItsHelp) {
  const snapshot seen = of_a_window();
  const std::string text = to_metrics(seen);
  for (const shown_figure& each : seen.figures) {
    const std::string name = metric_name(each);
    EXPECT_THAT(text, HasSubstr("# HELP " + name + " " + std::string(each.help)));
    const std::string type = name.ends_with("_total") ? " counter\n" : " gauge\n";
    EXPECT_THAT(text, HasSubstr("# TYPE " + name + type + name + " "));
  }
  EXPECT_THAT(text, HasSubstr("\nisotherm_windows_total 7\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_cold_misses_total 3\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_cold_written_bytes_total 4\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_cold_memory_bytes 6\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_cold_read_p99_seconds 1024e-6\n"));
  EXPECT_THAT(text, HasSubstr("_seconds_bucket{le=\"64e-6\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("_seconds_bucket{le=\"128e-6\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("_seconds_bucket{le=\"1024e-6\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("_seconds_sum 1700e-6\n"));
  EXPECT_THAT(text, HasSubstr("\nisotherm_heap_objects{heap=\"cold\"} 9\n"));
  EXPECT_THAT(text, HasSubstr("isotherm_info{index=\"hash-pugh\",} 1\n"));
}

TEST(Figures, MetricsQuoteWords) {
  const snapshot seen{.facts = {{"problem", "a\"b\\c\nd"}}};
  EXPECT_THAT(to_metrics(seen), HasSubstr(R"(problem="a\"b\\c\nd")"));
  EXPECT_THAT(to_metrics(seen), Not(HasSubstr("heap")));
}

}  // namespace
}  // namespace isotherm::live
