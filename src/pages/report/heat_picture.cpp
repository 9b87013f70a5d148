#include "pages/report/heat_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "pages/report/svg.hpp"
#include "pages/report/text.hpp"

namespace isotherm::pages {
namespace {

constexpr double kLeft = 16, kPlotWidth = 640, kLabels = 200, kTop = 60, kBottom = 76;
constexpr double kPlotHeight = 480, kHighestRow = 16, kBetweenLabels = 6, kTextHeight = 16;

/// A colour for shares up to `most`. Viridis, as the live page has it; the first is of no use.
struct shade {
  double most;
  std::string_view colour;
};
constexpr std::array<shade, 10> kShades{{{0, "#e4e7ea"},
                                         {.01, "#440154"},
                                         {.03, "#472d7b"},
                                         {.05, "#3b528b"},
                                         {.1, "#2c728e"},
                                         {.2, "#21918c"},
                                         {.3, "#28ae80"},
                                         {.5, "#5ec962"},
                                         {.75, "#addc30"},
                                         {1, "#fde725"}}};

std::size_t shade_of(double share) {
  const auto found = std::ranges::lower_bound(kShades, share, {}, &shade::most);
  return std::min<std::size_t>(found - kShades.begin(), kShades.size() - 1);
}

/// Rows of one label, which lie side by side.
struct block {
  std::size_t first, end;
  double top;
};

/// The places of the rows on the picture.
class layout {
 public:
  explicit layout(const heat_map& map)
      : row_height_(std::min(kHighestRow, kPlotHeight / static_cast<double>(map.rows.size()))) {
    double top = kTop;
    for (std::size_t first = 0; first < map.rows.size();) {
      std::size_t end = first;
      while (end < map.rows.size() && map.rows[end].label == map.rows[first].label) ++end;
      blocks_.push_back({first, end, top});
      const double height = row_height_ * static_cast<double>(end - first);
      top += std::max(height, kTextHeight) + kBetweenLabels;
      first = end;
    }
    bottom_ = top;
  }
  const std::vector<block>& blocks() const { return blocks_; }
  double row_height() const { return row_height_; }
  double bottom() const { return bottom_; }

 private:
  double row_height_;
  double bottom_ = 0;
  std::vector<block> blocks_;
};

/// Draws a row: a rectangle for each run of columns of one shade, in the path of that shade.
void draw_row(const heat_map& map, std::size_t row, double top, double height,
              std::array<std::string, kShades.size()>& paths) {
  const double width = kPlotWidth / static_cast<double>(map.columns.size());
  for (std::size_t begin = 0; begin < map.columns.size();) {
    const auto& share = map.columns[begin].shares[row];
    std::size_t end = begin + 1;
    if (share) {
      const std::size_t shade = shade_of(*share);
      const auto is_same = [&](const auto& other) { return other && shade_of(*other) == shade; };
      while (end < map.columns.size() && is_same(map.columns[end].shares[row])) ++end;
      fmt::format_to(std::back_inserter(paths[shade]), "M{:.1f} {:.1f}h{:.1f}v{:.1f}h-{:.1f}z",
                     kLeft + width * static_cast<double>(begin), top,
                     width * static_cast<double>(end - begin), height,
                     width * static_cast<double>(end - begin));
    }
    begin = end;
  }
}

std::string label_text(const memory_label& label, const window_report& window) {
  constexpr std::size_t kMost = 26;
  const std::string_view whole = label.name.empty() ? label_of(label.kind, window) : label.name;
  const std::string_view last = whole.substr(whole.find_last_of('/') + 1);
  if (last.size() <= kMost) return svg_escaped(last);
  return svg_escaped(last.substr(0, kMost - 2)) + "..";
}

void draw_blocks(std::string& svg, const heat_map& map, const layout& places,
                 const window_report& last) {
  std::array<std::string, kShades.size()> paths;
  const auto out = std::back_inserter(svg);
  for (const block& b : places.blocks()) {
    for (std::size_t row = b.first; row < b.end; ++row) {
      const double top = b.top + places.row_height() * static_cast<double>(row - b.first);
      draw_row(map, row, top, places.row_height(), paths);
    }
    fmt::format_to(out, "<text x='{}' y='{:.1f}'>{}</text>\n", kLeft + kPlotWidth + 8, b.top + 12,
                   label_text(map.rows[b.first].label, last));
  }
  for (std::size_t i = 0; i < kShades.size(); ++i) {
    if (!paths[i].empty()) {
      fmt::format_to(out, "<path fill='{}' d='{}'/>\n", kShades[i].colour, paths[i]);
    }
  }
}

void draw_legend(std::string& svg, double top, std::size_t windows) {
  constexpr double kWidth = 56, kHeight = 12;
  const auto out = std::back_inserter(svg);
  fmt::format_to(out,
                 "<text x='{}' y='{:.1f}'>window 1</text>"
                 "<text x='{}' y='{:.1f}' text-anchor='end'>window {}</text>\n",
                 kLeft, top + 8, kLeft + kPlotWidth, top + 8, windows);
  for (std::size_t i = 0; i < kShades.size(); ++i) {
    const double x = kLeft + kWidth * static_cast<double>(i);
    const std::string text = i == 0 ? "not used" : fmt::format("≤ {:.0f}%", 100 * kShades[i].most);
    fmt::format_to(out,
                   "<rect x='{}' y='{:.1f}' width='{}' height='{}' fill='{}'/>"
                   "<text x='{}' y='{:.1f}' font-size='11'>{}</text>\n",
                   x, top + 24, kWidth - 2, kHeight, kShades[i].colour, x, top + 50, text);
  }
}

}  // namespace

heat_map heat_map_of(const observation& seen) {
  std::vector<const heat_strip*> strips;
  strips.reserve(seen.windows.size());
  for (const window_report& w : seen.windows) strips.push_back(&w.heat);
  return make_heat_map(strips);
}

std::string to_heat_picture(const observation& seen) {
  const heat_map map = heat_map_of(seen);
  const layout places(map);
  const double seconds =
      std::accumulate(seen.windows.begin(), seen.windows.end(), 0.0,
                      [](double sum, const window_report& w) { return sum + w.seconds; });
  std::string svg = svg_begin(
      kLeft + kPlotWidth + kLabels, places.bottom() + kBottom,
      fmt::format("{}: share of its memory that was used, by window", seen.traits.subject),
      fmt::format("a row: {} KiB of addresses; {} window{}, {:.1f} s; observed by {}",
                  map.step >> 10, seen.windows.size(), seen.windows.size() == 1 ? "" : "s", seconds,
                  seen.traits.name));
  draw_blocks(svg, map, places, seen.windows.back());
  draw_legend(svg, places.bottom() + 8, seen.windows.size());
  return svg + "</svg>\n";
}

}  // namespace isotherm::pages
