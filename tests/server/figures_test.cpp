// The tables of what the server and its process count of themselves: the guide knows every row.
#include "server/figures.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "heap/cold/statistics.hpp"
#include "heap/usage.hpp"

namespace isotherm::server {
namespace {

TEST(Figures, EachIsInTheGuideAndStandsOnce) {
  std::ifstream file(ISOTHERM_DOCS "/serve.md");
  ASSERT_TRUE(file.is_open());
  const std::string guide(std::istreambuf_iterator<char>(file), {});
  std::set<std::string_view> names;
  const auto look_at = [&](std::string_view name, std::string_view help) {
    EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
    EXPECT_FALSE(help.empty()) << name;
    EXPECT_THAT(guide, ::testing::HasSubstr('`' + std::string(name) + '`'));
  };
  for (const auto& each : server_figures()) look_at(each.name, each.help);
  for (const auto& each : heap::footprint_table()) look_at(each.name, each.help);
  for (const auto& each : heap::cold_statistic_table()) look_at(each.name, each.help);
  for (const auto& each : heap::cold_file_table()) look_at(each.name, each.help);
}

TEST(Figures, WhatInfoTellsHasANameThere) {
  for (const auto& each : server_figures()) {
    EXPECT_EQ(each.info_name.empty(), each.info_section == server_figure::section::none)
        << each.name;
  }
}

TEST(Figures, ACounterIsAddedToAndReset) {
  event_counters counters;
  counters.add("commands");
  counters.add("input_bytes", 7);
  EXPECT_EQ(counters.sum("commands"), 1u);
  EXPECT_EQ(counters.sum("input_bytes"), 7u);
  EXPECT_EQ(counters.sum("refused_writes"), 0u);
  counters.reset();
  EXPECT_EQ(counters.sum("commands"), 0u);
  EXPECT_EQ(counters.sum("input_bytes"), 0u);
}

}  // namespace
}  // namespace isotherm::server
