// Frames of isotherm top, from numbers: no server and no terminal.
#include "top/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "base/page.hpp"
#include "top/top.hpp"

namespace isotherm::top {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr text_style kAscii;
constexpr text_style kBlocks{.drawn_with = text_style::letters::blocks};
constexpr text_style kColoured{.shown_in = text_style::colours::indexed,
                               .drawn_with = text_style::letters::blocks};

/// Characters of a line without its escape sequences, each as UTF-8.
std::vector<std::string> characters(const std::string& line) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < line.size();) {
    if (line[at] == '\033') {
      at = line.find('m', at) + 1;
      continue;
    }
    std::size_t end = at + 1;
    while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0U) == 0x80) ++end;
    all.push_back(line.substr(at, end - at));
    at = end;
  }
  return all;
}

std::string plain(const std::string& line) {
  const auto all = characters(line);
  return std::accumulate(all.begin(), all.end(), std::string());
}

heap_map heap_of(const std::string& name, const std::string& cells, std::uint64_t per_cell = 1) {
  return {.name = name,
          .pages = cells.size() * per_cell,
          .pages_per_cell = per_cell,
          .extent_bytes = cells.size() * per_cell * base::kPageBytes,
          .resident_bytes = 0,
          .cells = cells};
}

observation seen_at(double seconds) {
  observation seen;
  seen.at_seconds = seconds;
  seen.statistics = {{"index", "hash-pugh"},
                     {"manage", "on"},
                     {"keys", "1000"},
                     {"dram_bytes", "104857600"},
                     {"memory_target_bytes", "209715200"},
                     {"page_utilization", "0.784"},
                     {"promotion_rate", "0.012"},
                     {"cold_threshold", "7"},
                     {"cold_misses", "10"},
                     {"commands", "100"},
                     {"window", "12"},
                     {"window_seconds", "10"},
                     {"problem", ""}};
  seen.configuration = {{"policy", "published"}, {"target-promotion-rate", "0.01"}};
  seen.heaps = {heap_of("new", "99"), heap_of("hot", "9999"), heap_of("cold", "0000000000"),
                heap_of("node", "9")};
  return seen;
}

TEST(Sparkline, ReachesFromZeroToTheHighest) {
  const std::vector<double> values{0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(sparkline(kBlocks, values, 9), " ▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(kAscii, values, 9), " .:-=+*%#");
}

TEST(Sparkline, ShowsTheLastValuesAndFillsUpOnTheLeft) {
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{1, 8}, 4), "  ▁█");
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{9, 1, 8}, 2), "▁█");
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{}, 3), "   ");
}

TEST(Sparkline, IsMeasuredByATargetThatIsHigher) {
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{4, 8}, 2, 8), "▄█");
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{4, 8}, 2, 16), "▂▄");
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{4, 8}, 2, 1), "▄█");
}

TEST(Sparkline, LeavesAGapWhereThereIsNoNumber) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{4, none, 4}, 3), "█ █");
  EXPECT_EQ(sparkline(kBlocks, std::vector<double>{0, 0}, 2), "  ");
}

TEST(Dots, MeanOfTheirCells) {
  EXPECT_THAT(dots_of(heap_of("hot", "9090"), 1), ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(dots_of(heap_of("hot", "99009"), 2), ElementsAre(1, 0, 1));
  EXPECT_THAT(dots_of(heap_of("hot", "9900", 4), 8), ElementsAre(1, 0));
  EXPECT_TRUE(dots_of(heap_of("hot", ""), 1).empty());
}

TEST(Places, ShareTheWidthByPagesAndLeaveNoneOut) {
  const std::vector<heap_map> heaps{heap_of("new", "9"), heap_of("hot", "9"),
                                    heap_of("cold", std::string(98, '0')), heap_of("node", "")};
  const auto places = place_heaps(heaps, 103);
  ASSERT_EQ(places.size(), 4U);
  EXPECT_EQ(places[0].width, 18U);
  EXPECT_EQ(places[3].width, 18U);
  EXPECT_GT(places[2].width, 40U);
  std::size_t sum = 3;
  for (const auto& place : places) sum += place.width;
  EXPECT_LE(sum, 103U);
}

TEST(Places, OneScaleForAllHeapsThatFitsEachIntoItsPlace) {
  const std::vector<heap_map> heaps{heap_of("hot", std::string(1000, '9')),
                                    heap_of("cold", std::string(9000, '0'))};
  for (const auto& style : {kAscii, kBlocks}) {
    const auto places = place_heaps(heaps, 81);
    const auto per_dot = pages_per_dot(style, places, 10);
    const std::size_t a_line = style.drawn_with == text_style::letters::blocks ? 2 : 1;
    for (const auto& place : places) {
      EXPECT_LE(dots_of(*place.heap, per_dot).size(), place.width * 10 * a_line);
    }
  }
}

TEST(Map, HalfBlocksShowTwoDotsALine) {
  // Two lines of 2 columns: dots 99 over 00, then 90 over nothing.
  const std::vector<heap_map> heaps{heap_of("hot", "990090")};
  const std::vector<heap_place> places{{heaps.data(), 2}};
  EXPECT_THAT(draw_heaps(kBlocks, places, 2), ElementsAre("▀▀", "▀·"));
  EXPECT_THAT(draw_heaps(kAscii, places, 3), ElementsAre("##", "..", "#."));
}

TEST(Map, ColoursTellInDramFromOut) {
  const std::vector<heap_map> in{heap_of("hot", "9")}, out{heap_of("hot", "0")},
      cold{heap_of("cold", "9")};
  const auto line = [](const heap_map& heap) {
    const std::vector<heap_place> places{{&heap, 1}};
    return draw_heaps(kColoured, places, 1).front();
  };
  EXPECT_NE(line(in[0]), line(out[0]));
  EXPECT_NE(line(in[0]), line(cold[0]));
  EXPECT_EQ(plain(line(in[0])), plain(line(out[0])));
}

TEST(Frame, FitsEveryWindow) {
  history seen("127.0.0.1:6379");
  seen.add(seen_at(1));
  seen.add(seen_at(2));
  for (const auto& style : {kAscii, kBlocks, kColoured}) {
    for (std::size_t columns = 1; columns <= 200; columns += 3) {
      for (std::size_t rows = 1; rows <= 60; rows += 7) {
        const auto lines = render(seen, style, {columns, rows});
        EXPECT_LE(lines.size(), rows);
        for (const auto& line : lines) {
          EXPECT_LE(characters(line).size(), columns) << columns << " x " << rows << ": " << line;
        }
      }
    }
  }
}

TEST(Frame, SaysWhatWasSeen) {
  history seen("127.0.0.1:6379");
  seen.add(seen_at(1));
  const auto lines = render(seen, kAscii, {100, 30});
  EXPECT_THAT(lines.front(), HasSubstr("127.0.0.1:6379  hash-pugh  manage on  1000 keys"));
  EXPECT_THAT(lines, Contains(HasSubstr("100 MiB of 200 MiB target")));
  EXPECT_THAT(lines, Contains(HasSubstr("78.4% of the bytes of pages in use")));
  EXPECT_THAT(lines, Contains(HasSubstr("1.2% a minute, target 1.0%")));
  EXPECT_THAT(lines, Contains(HasSubstr("7 windows without use")));
  EXPECT_THAT(lines, Contains(HasSubstr("COLD 0.0 MiB 0%")));
  EXPECT_THAT(lines, Contains(HasSubstr("a dot is 1 page")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("problem"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("\033"))));
}

TEST(Frame, APolicyWithoutThresholdHasNoTargetOfThePromotionRate) {
  history seen("s");
  observation of_budget = seen_at(1);
  of_budget.configuration["policy"] = "budget";
  of_budget.statistics["kept_rate"] = "0.125";
  seen.add(of_budget);
  const auto lines = render(seen, kAscii, {100, 30});
  EXPECT_THAT(lines, Contains(HasSubstr("1.2% a minute")));
  EXPECT_THAT(lines, Contains(HasSubstr("from 0.125 uses a window on, for each page")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("target 1.0%"))));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("windows without use"))));
}

TEST(Frame, TheShareInDramIsOfWhatAHeapHolds) {
  history seen("s");
  observation shrunk = seen_at(1);
  shrunk.heaps[1] = heap_of("hot", std::string(1024, '0'));  // 4 MiB of addresses
  shrunk.heaps[1].extent_bytes = 2 << 20;
  shrunk.heaps[1].resident_bytes = 1 << 20;
  seen.add(shrunk);
  EXPECT_THAT(render(seen, kAscii, {100, 30}), Contains(HasSubstr("HOT 2.0 MiB 50%")));
}

TEST(Pace, TheNextLookIsAnIntervalLaterOrTwentyTimesWhatThisOneTook) {
  using std::chrono::milliseconds;
  const std::chrono::steady_clock::time_point began;
  EXPECT_EQ(next_look(began, began + milliseconds(10), milliseconds(1000)),
            began + milliseconds(1000));
  EXPECT_EQ(next_look(began, began + milliseconds(100), milliseconds(1000)),
            began + milliseconds(2100));
}

TEST(Frame, DrawsDramAgainstItsTarget) {
  history seen("s");
  seen.add(seen_at(1));  // half of its target
  EXPECT_THAT(render(seen, kBlocks, {80, 30}), Contains(HasSubstr("▄  100 MiB of 200 MiB")));
}

TEST(Frame, TellsTheServersProblem) {
  history seen("s");
  observation full = seen_at(1);
  full.statistics["problem"] = "COLD is full: no space";
  seen.add(full);
  EXPECT_THAT(render(seen, kAscii, {80, 30}), Contains("problem: COLD is full: no space"));
}

TEST(Frame, HasNoMapWithoutManagement) {
  history seen("s");
  observation plain_store = seen_at(1);
  plain_store.statistics["manage"] = "off";
  plain_store.heaps.clear();
  seen.add(plain_store);
  const auto lines = render(seen, kAscii, {80, 30});
  EXPECT_THAT(lines, Contains(HasSubstr("--manage off")));
  EXPECT_THAT(lines, Not(Contains(HasSubstr("threshold"))));
}

TEST(History, RatesLeaveOutWhatWasAskedByItself) {
  history seen("s");
  observation first = seen_at(10), second = seen_at(12);
  first.own_commands = 4;
  second.own_commands = 8;
  second.statistics["commands"] = "304";
  second.statistics["cold_misses"] = "30";
  seen.add(first);
  EXPECT_TRUE(std::isnan(seen.rate("cold_misses").back()));
  seen.add(second);
  EXPECT_EQ(seen.rate("commands").back(), 100);
  EXPECT_EQ(seen.rate("cold_misses").back(), 10);
}

TEST(History, ACounterThatWasResetIsNoNegativeRate) {
  history seen("s");
  seen.add(seen_at(1));
  observation restarted = seen_at(2);
  restarted.statistics["cold_misses"] = "0";
  seen.add(restarted);
  EXPECT_EQ(seen.rate("cold_misses").back(), 0);
}

TEST(Server, IsAPathOrAHostWithAPort) {
  EXPECT_EQ(parse_server("/run/isotherm.sock")->path, "/run/isotherm.sock");
  EXPECT_EQ(parse_server("unix:s")->path, "s");
  EXPECT_EQ(parse_server("s")->path, "s");
  const auto tcp = parse_server("localhost:6380");
  ASSERT_TRUE(tcp);
  EXPECT_EQ(tcp->host, "localhost");
  EXPECT_EQ(tcp->port, 6380);
  EXPECT_FALSE(parse_server("localhost:port"));
  EXPECT_FALSE(parse_server(""));
}

}  // namespace
}  // namespace isotherm::top
