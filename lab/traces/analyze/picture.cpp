#include "lab/traces/analyze/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "lab/traces/analyze/report.hpp"
#include "lab/workload/generators.hpp"

namespace isotherm::traces {
namespace {

constexpr double kCell = 6, kPlotTop = 60, kPlotHeight = heat_map::kRows * kCell;
constexpr double kHeatLeft = 50, kHeatWidth = heat_map::kColumns * kCell;
constexpr double kRanksLeft = 550, kRanksWidth = 220;
constexpr double kGapsLeft = 830, kGapsWidth = 300;
constexpr double kWidth = 1160, kHeight = 270;

std::string escaped(std::string_view text) {
  std::string made;
  for (const char c : text) {
    if (c == '<') {
      made += "&lt;";
    } else if (c == '&') {
      made += "&amp;";
    } else {
      made += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    }
  }
  return made;
}

std::string label(double x, double y, std::string_view anchor, std::string_view text) {
  return fmt::format("<text x='{:.1f}' y='{:.1f}' text-anchor='{}'>{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string frame(double left, double width, std::string_view title) {
  return fmt::format("<rect x='{}' y='{}' width='{}' height='{}' fill='none' stroke='#999'/>\n",
                     left, kPlotTop, width, kPlotHeight) +
         label(left, kPlotTop - 8, "start", title);
}

std::string heat_plot(const heat_map& map) {
  std::string svg =
      frame(kHeatLeft, kHeatWidth, "uses of a key: time downwards, rank to the right");
  const shades shade_of(map);
  for (std::size_t row = 0; row < heat_map::kRows; ++row) {
    for (std::size_t column = 0; column < heat_map::kColumns; ++column) {
      const double shade = shade_of(map.cells[row][column]);
      if (shade == 0) continue;
      svg += fmt::format(
          "<rect x='{}' y='{}' width='{}' height='{}' fill='#b2182b' fill-opacity='{:.2f}'/>\n",
          kHeatLeft + static_cast<double>(column) * kCell,
          kPlotTop + static_cast<double>(row) * kCell, kCell, kCell, shade);
    }
  }
  const double below = kPlotTop + kPlotHeight + 16;
  return svg + label(kHeatLeft, below, "start", "most popular") +
         label(kHeatLeft + kHeatWidth, below, "end", "least popular") +
         label(kHeatLeft - 6, kPlotTop + 10, "end", "first") +
         label(kHeatLeft - 6, kPlotTop + kPlotHeight, "end", "last");
}

std::string polyline(std::string_view points, std::string_view style) {
  return fmt::format("<polyline points='{}' fill='none' {}/>\n", points, style);
}

std::string rank_plot(const figures& found) {
  std::string svg = frame(kRanksLeft, kRanksWidth,
                          fmt::format("uses by rank; Zipf theta {:.2f} (dashed)", found.theta));
  const auto curve = rank_curve(found);
  if (curve.size() < 2) return svg;
  const double decades_right = std::log10(static_cast<double>(curve.back().rank));
  const double decades_up = std::max(std::log10(static_cast<double>(curve.front().uses)), 1.0);
  const auto all = static_cast<double>(std::reduce(found.uses.begin(), found.uses.end()));
  const double first = all / workload::zeta(found.uses.size(), found.theta);
  std::string seen;
  std::string fitted;
  for (const auto& [rank, uses] : curve) {
    const double x =
        kRanksLeft + kRanksWidth * std::log10(static_cast<double>(rank)) / decades_right;
    const auto y = [&](double count) {
      return kPlotTop + kPlotHeight * (1 - std::clamp(std::log10(std::max(count, 1.0)) / decades_up,
                                                      0.0, 1.0));
    };
    seen += fmt::format("{:.1f},{:.1f} ", x, y(static_cast<double>(uses)));
    fitted += fmt::format("{:.1f},{:.1f} ", x,
                          y(first * std::pow(static_cast<double>(rank), -found.theta)));
  }
  const double below = kPlotTop + kPlotHeight + 16;
  return svg + polyline(seen, "stroke='#2166ac' stroke-width='2'") +
         polyline(fitted, "stroke='#555' stroke-dasharray='4 3'") +
         label(kRanksLeft, below, "start", "rank 1") +
         label(kRanksLeft + kRanksWidth, below, "end",
               fmt::format("{:.0f}", static_cast<double>(curve.back().rank) * found.one_in)) +
         label(kRanksLeft - 6, kPlotTop + 10, "end", fmt::format("{}", curve.front().uses)) +
         label(kRanksLeft - 6, kPlotTop + kPlotHeight, "end", "1");
}

std::string gap_plot(const figures& found) {
  std::string svg = frame(kGapsLeft, kGapsWidth, "keys whose gaps have p75/p25 > 5, 10, 30");
  const auto step = kGapsWidth / static_cast<double>(found.sizes.size());
  const double below = kPlotTop + kPlotHeight + 16;
  for (std::size_t i = 0; i < found.sizes.size(); ++i) {
    const size_class& each = found.sizes[i];
    const double left = kGapsLeft + step * static_cast<double>(i);
    svg += label(left + step / 2, below + (i % 2 == 0 ? 0 : 13), "middle", each.name);
    double x = left + step * 0.1;
    for (const auto& [share, colour] : {std::pair{each.over_5, "#92c5de"},
                                        {each.over_10, "#4393c3"},
                                        {each.over_30, "#2166ac"}}) {
      svg += fmt::format("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}'/>\n",
                         x, kPlotTop + kPlotHeight * (1 - share), step * 0.25, kPlotHeight * share,
                         colour);
      x += step * 0.27;
    }
  }
  return svg + label(kGapsLeft - 6, kPlotTop + 10, "end", "100%") +
         label(kGapsLeft - 6, kPlotTop + kPlotHeight, "end", "0");
}

}  // namespace

std::string to_svg(const figures& found, const std::string& name) {
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' width='{}' height='{}' "
      "font-family='sans-serif' font-size='11'>\n<rect width='100%' height='100%' fill='white'/>\n",
      kWidth, kHeight);
  svg += label(kHeatLeft, 22, "start",
               fmt::format("{}: {} requests of {:.0f} keys{}", name, found.requests, found.keys,
                           found.one_in > 1 ? " (a sample of the keys)" : ""));
  if (!found.uses.empty()) svg += heat_plot(found.heat) + rank_plot(found) + gap_plot(found);
  return svg + "</svg>\n";
}

}  // namespace isotherm::traces
