// The tables of options and of statistics: what they read and write, and that the documents know
// every row.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <variant>

#include "collector/collector.hpp"
#include "collector/options.hpp"
#include "collector/statistics.hpp"

namespace isotherm::collector {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

std::string document(const std::string& name) {
  std::ifstream file(ISOTHERM_DOCS "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

const option& row(std::string_view name) {
  const option* found = find_option(name);
  EXPECT_NE(found, nullptr) << name;
  return *found;
}

TEST(OptionTable, EachRowReadsWhatItSet) {
  options chosen;
  std::set<std::string_view> names;
  for (const option& each : option_table()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name << " stands twice";
    EXPECT_FALSE(each.help.empty()) << each.name;
    const std::string as_it_was = each.get(chosen);
    EXPECT_TRUE(each.set(chosen, as_it_was)) << "the default is in range: " << each.name;
    EXPECT_EQ(each.get(chosen), as_it_was);
    EXPECT_EQ(find_option(each.name), &each);
  }
  EXPECT_EQ(find_option("windo"), nullptr);
}

TEST(OptionTable, AValueGoesToItsMember) {
  options chosen;
  const auto set = [&](std::string_view name, std::string_view text) {
    const auto done = row(name).set(chosen, text);
    EXPECT_TRUE(done) << name;
    EXPECT_EQ(row(name).get(chosen), text);
  };
  set("manage", "track");
  EXPECT_EQ(chosen.manage, mode::track);
  set("window", "0.25");
  EXPECT_EQ(chosen.window_seconds, 0.25);
  set("hint", "pageout");
  EXPECT_EQ(chosen.hint, heap::hint::pageout);
  set("hint", "cold");
  EXPECT_EQ(chosen.hint, heap::hint::cold);
  set("cold-threshold", "31");
  EXPECT_EQ(chosen.cold_threshold, 31u);
  set("adaptive-threshold", "no");
  EXPECT_FALSE(chosen.adaptive_threshold);
  set("target-promotion-rate", "0.5");
  EXPECT_EQ(chosen.target_promotion_rate, 0.5);
  set("min-rest", "7");
  EXPECT_EQ(chosen.min_rest_seconds, 7);
  set("protocol", "counts");
  EXPECT_EQ(chosen.protocol, "counts");
}

TEST(OptionTable, AValueOutOfRangeIsRefusedAndChangesNothing) {
  const struct {
    std::string_view name, value, wanted;
  } refused[] = {{"manage", "off", "track or on"},
                 {"window", "0.0009", "a number from 0.001 to 604800"},
                 {"window", "604801", "a number from 0.001 to 604800"},
                 {"window", "1s", "a number from 0.001 to 604800"},
                 {"window", "nan", "a number from"},
                 {"window", "", "a number from"},
                 {"hint", "x", "none, cold or pageout"},
                 {"cold-threshold", "0", "1 to 31 windows"},
                 {"cold-threshold", "32", "1 to 31 windows"},
                 {"cold-threshold", "2.5", "1 to 31 windows"},
                 {"adaptive-threshold", "1", "yes or no"},
                 {"target-promotion-rate", "-1", "a number from 0 to 1000000"},
                 {"min-rest", "inf", "a number from 0 to 604800"},
                 {"protocol", "", "veto or counts"}};
  for (const auto& [name, value, wanted] : refused) {
    options chosen;
    const std::string before = row(name).get(chosen);
    const auto done = row(name).set(chosen, value);
    ASSERT_FALSE(done) << name << ' ' << value;
    EXPECT_THAT(done.error().message, HasSubstr(std::string(name) + " is '" + std::string(value)));
    EXPECT_THAT(done.error().message, HasSubstr("but takes " + std::string(wanted)));
    EXPECT_EQ(row(name).get(chosen), before);
  }
}

TEST(OptionTable, TheCollectorWorksWithTheEndsOfEachRange) {
  object_collector collector{options{}};
  for (const auto& [name, value] : {std::pair{"window", "0.001"},
                                    {"window", "604800"},
                                    {"cold-threshold", "1"},
                                    {"target-promotion-rate", "0"},
                                    {"target-promotion-rate", "1000000"},
                                    {"min-rest", "0"}}) {
    options chosen;
    EXPECT_TRUE(row(name).set(chosen, value)) << name;
    EXPECT_TRUE(collector.reconfigure(chosen)) << name << ' ' << value;
  }
}

TEST(OptionTable, TheGuideAndTheManualPageListEachRow) {
  const std::string guide = document("serve.md"), page = document("isotherm.1");
  for (const option& each : option_table()) {
    const std::string name(each.name);
    if (each.is_flag()) {
      EXPECT_THAT(guide, HasSubstr("| `--" + name + ' '));
      EXPECT_THAT(page, HasSubstr("\n.It Fl -" + name + ' '));
    }
    EXPECT_THAT(guide, HasSubstr('`' + name + '`')) << "as a parameter of ISOTHERM CONFIG";
    EXPECT_THAT(page, ContainsRegex("\n\\.Cm " + name + " ?[,\n]"))
        << "as a parameter of ISOTHERM CONFIG";
  }
}

std::string text_of(const statistic& one, const window_statistics& seen) {
  return std::visit([](auto value) { return std::to_string(value); }, one.get(seen));
}

TEST(StatisticTable, EachRowHasAMemberOfItsOwn) {
  window_statistics seen;
  std::set<std::string_view> names;
  unsigned number = 0;
  for (const statistic& each : statistic_table()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name << " stands twice";
    EXPECT_FALSE(each.help.empty()) << each.name;
    EXPECT_TRUE(each.set(seen, std::to_string(++number))) << each.name;
  }
  number = 0;
  for (const statistic& each : statistic_table()) {
    ++number;
    EXPECT_TRUE(text_of(each, seen) == std::to_string(number) ||
                text_of(each, seen) == std::to_string(double{1} * number))
        << each.name << " is " << text_of(each, seen);
  }
}

TEST(StatisticTable, EachRowReadsWhatItTells) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const statistic& each : statistic_table()) {
    window_statistics seen, read;
    std::set<std::string> told{"1"};
    if (std::holds_alternative<double>(each.get(seen))) told.insert({"inf", "-inf", "0.250000"});
    for (const std::string& text : told) {
      ASSERT_TRUE(each.set(seen, text)) << each.name << ' ' << text;
      ASSERT_TRUE(each.set(read, text_of(each, seen))) << each.name << ' ' << text;
      EXPECT_EQ(each.get(read), each.get(seen)) << each.name << ' ' << text;
    }
    if (!told.contains("inf")) continue;
    ASSERT_TRUE(each.set(read, "inf")) << each.name;
    EXPECT_EQ(std::get<double>(each.get(read)), kInfinity) << each.name;
    EXPECT_FALSE(each.set(read, "nan")) << each.name;
  }
}

TEST(StatisticTable, ANameTellsItsMember) {
  window_statistics seen;
  const auto set = [&](std::string_view name, std::string_view text) {
    const auto all = statistic_table();
    const auto found = std::ranges::find(all, name, &statistic::name);
    ASSERT_NE(found, all.end()) << name;
    EXPECT_TRUE(found->set(seen, text)) << name;
    EXPECT_FALSE(found->set(seen, "x")) << name;
    EXPECT_FALSE(found->set(seen, "")) << name;
  };
  set("window", "18446744073709551615");
  EXPECT_EQ(seen.window, ~std::uint64_t{0});
  set("page_utilization", "0.5");
  EXPECT_EQ(seen.page_utilization, 0.5);
  set("promoted_objects", "3");
  EXPECT_EQ(seen.promoted.objects, 3u);
  set("demoted_bytes", "4");
  EXPECT_EQ(seen.demoted.bytes, 4u);
  set("cold_threshold", "31");
  EXPECT_EQ(seen.cold_threshold, 31u);
  set("collector_cpu_seconds", "1e-05");
  EXPECT_EQ(seen.collector_cpu_seconds, 1e-5);
}

TEST(StatisticTable, TheGuideAndTheManualPageListEachRow) {
  const std::string guide = document("serve.md"), page = document("isotherm.1");
  for (const statistic& each : statistic_table()) {
    const std::string name(each.name);
    EXPECT_THAT(guide, HasSubstr('`' + name + '`'));
    EXPECT_THAT(page, ContainsRegex("\n\\.Va " + name + " ?[,.\n]"))
        << "as a field of ISOTHERM STATS";
  }
}

}  // namespace
}  // namespace isotherm::collector
