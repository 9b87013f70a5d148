#include "top/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace isotherm::top {
namespace {

constexpr std::array<std::string_view, 9> kBars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kShades = ".:-=+*%@#";  // of a dot with pages, from none in DRAM to all
constexpr std::size_t kLeastHeading = 18;          // of "NODE 1024 MiB 100%"
constexpr std::string_view kAsciiBars = " .:-=+*%#";

/// The nearest of the 6 steps of a colour in the cube of 256 colours.
unsigned step_of(std::uint8_t part) {
  constexpr std::array<int, 6> kSteps{0, 95, 135, 175, 215, 255};
  const auto nearest = std::ranges::min_element(
      kSteps, {}, [part](int step) { return std::abs(step - static_cast<int>(part)); });
  return static_cast<unsigned>(nearest - kSteps.begin());
}

unsigned index_of(rgb colour) {
  constexpr unsigned kCube = 16;
  return kCube + 36 * step_of(colour.red) + 6 * step_of(colour.green) + step_of(colour.blue);
}

rgb between(rgb from, rgb to, double share) {
  const auto mix = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

std::size_t dots_per_line(const text_style& style) {
  return style.drawn_with == text_style::letters::blocks ? 2 : 1;
}

/// A dot of the map: absent where there are no pages.
using dot = std::optional<double>;

std::string block_of(const text_style& style, rgb colour, dot upper, dot lower) {
  if (!upper) return " ";
  if (style.shown_in == text_style::colours::none) {
    const bool is_up = *upper >= 0.5, is_down = lower && *lower >= 0.5;
    if (is_up && is_down) return "█";
    return is_up ? "▀" : is_down ? "▄" : "·";
  }
  const unsigned front = index_of(between(kOutOfDram, colour, *upper));
  if (!lower) return fmt::format("\033[38;5;{}m▀\033[0m", front);
  const unsigned back = index_of(between(kOutOfDram, colour, *lower));
  return fmt::format("\033[38;5;{};48;5;{}m▀\033[0m", front, back);
}

std::string shade_of(const text_style& style, rgb colour, dot value) {
  if (!value) return " ";
  const auto last = static_cast<double>(kShades.size() - 1);
  const std::string shade(1, kShades[static_cast<std::size_t>(std::lround(*value * last))]);
  return coloured(style, between(kOutOfDram, colour, *value), shade);
}

}  // namespace

std::string coloured(const text_style& style, rgb colour, const std::string& text) {
  if (style.shown_in == text_style::colours::none) return text;
  return fmt::format("\033[38;5;{}m{}\033[0m", index_of(colour), text);
}

std::string sparkline(const text_style& style, std::span<const double> values, std::size_t width,
                      double top) {
  values = values.last(std::min(values.size(), width));
  double most = top;
  for (const double value : values) {
    if (std::isfinite(value)) most = std::max(most, value);
  }
  std::string line(width - values.size(), ' ');
  for (const double value : values) {
    const double share = std::isfinite(value) && most > 0 ? std::max(0.0, value) / most : 0;
    const auto level = static_cast<std::size_t>(std::ceil(share * (kBars.size() - 1)));
    if (style.drawn_with == text_style::letters::blocks) {
      line += kBars[level];
    } else {
      line += kAsciiBars[level];
    }
  }
  return line;
}

std::vector<heap_place> place_heaps(std::span<const heap_map> heaps, std::size_t width) {
  std::vector<heap_place> places;
  if (heaps.empty() || width < 2 * heaps.size()) return places;
  const std::size_t room = width - (heaps.size() - 1);
  const std::size_t least = std::min(kLeastHeading, room / heaps.size());
  const std::size_t more = room - least * heaps.size();
  std::uint64_t pages = 0;
  for (const heap_map& heap : heaps) pages += heap.pages;
  for (const heap_map& heap : heaps) {
    places.push_back({&heap, least + (pages > 0 ? more * heap.pages / pages : 0)});
  }
  return places;
}

std::uint64_t pages_per_dot(const text_style& style, std::span<const heap_place> places,
                            std::size_t rows) {
  std::uint64_t most = 1;
  for (const heap_place& place : places) {
    const std::uint64_t dots =
        std::max<std::uint64_t>(1, place.width * rows * dots_per_line(style));
    most = std::max(most, (place.heap->pages + dots - 1) / dots);
  }
  return most;
}

std::vector<double> dots_of(const heap_map& heap, std::uint64_t pages_per_dot) {
  const std::uint64_t per_cell = std::max<std::uint64_t>(1, heap.pages_per_cell);
  const std::uint64_t cells_per_dot =
      (std::max<std::uint64_t>(1, pages_per_dot) + per_cell - 1) / per_cell;
  std::vector<double> dots;
  constexpr double kAll = 9;
  for (std::size_t at = 0; at < heap.cells.size(); at += cells_per_dot) {
    const std::string_view cells = std::string_view(heap.cells).substr(at, cells_per_dot);
    double sum = 0;
    for (const char digit : cells) sum += digit - '0';
    dots.push_back(std::clamp(sum / kAll / static_cast<double>(cells.size()), 0.0, 1.0));
  }
  return dots;
}

std::vector<std::string> draw_heaps(const text_style& style, std::span<const heap_place> places,
                                    std::size_t rows) {
  std::vector<std::string> lines(rows);
  const std::uint64_t per_dot = pages_per_dot(style, places, rows);
  for (const heap_place& place : places) {
    const auto dots = dots_of(*place.heap, per_dot);
    const rgb colour = colour_of_heap(place.heap->name);
    const auto dot_at = [&](std::size_t row, std::size_t column) {
      const std::size_t at = row * place.width + column;
      return at < dots.size() ? dot(dots[at]) : dot();
    };
    for (std::size_t row = 0; row < rows; ++row) {
      if (&place != &places.front()) lines[row] += ' ';
      for (std::size_t column = 0; column < place.width; ++column) {
        lines[row] +=
            style.drawn_with == text_style::letters::blocks
                ? block_of(style, colour, dot_at(2 * row, column), dot_at(2 * row + 1, column))
                : shade_of(style, colour, dot_at(row, column));
      }
    }
  }
  return lines;
}

rgb colour_of_heap(const std::string& name) {
  // Okabe and Ito's, which colour-blind people tell apart; also told by place and heading.
  if (name == "hot") return {213, 94, 0};
  if (name == "cold") return {86, 180, 233};
  if (name == "node") return {204, 121, 167};
  return {240, 228, 66};
}

}  // namespace isotherm::top
