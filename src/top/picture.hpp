// Pictures of text for a terminal: a line of values over time, and pages in half blocks. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "top/observation.hpp"

namespace isotherm::top {

/// The style that the terminal can show.
struct text_style {
  enum class colours : std::uint8_t { none, indexed };  ///< of 256
  enum class letters : std::uint8_t { ascii, blocks };  ///< half blocks and the like need UTF-8
  colours shown_in = colours::none;
  letters drawn_with = letters::ascii;
};

struct rgb {
  std::uint8_t red = 0, green = 0, blue = 0;
};

/// `text` in a colour; as it is where the style has none.
std::string coloured(const text_style& style, rgb colour, const std::string& text);

/// The last `width` values, a character each, from 0 to the highest of them and `top`, what they
/// are to be measured by (0: nothing); a value that is no number leaves a gap. Always `width`
/// characters.
std::string sparkline(const text_style& style, std::span<const double> values, std::size_t width,
                      double top = 0);

/// The place where one heap is drawn: columns of the terminal.
struct heap_place {
  const heap_map* heap = nullptr;
  std::size_t width = 0;
};

/// Shares `width` columns among the heaps: some for each, the others as their pages are. Between
/// two heaps one column stays free.
std::vector<heap_place> place_heaps(std::span<const heap_map> heaps, std::size_t width);

/// How many pages a dot stands for when `rows` lines are there: the same for all heaps, so that
/// areas compare. At least 1.
std::uint64_t pages_per_dot(const text_style& style, std::span<const heap_place> places,
                            std::size_t rows);

/// For each dot, how much of its pages is in DRAM, 0 to 1; only dots that stand for pages.
std::vector<double> dots_of(const heap_map& heap, std::uint64_t pages_per_dot);

/// The maps side by side, `rows` lines. In colours a dot is lit as far as its pages are in DRAM;
/// without colours, half blocks show pages of which half at least is in DRAM, and ASCII shades.
std::vector<std::string> draw_heaps(const text_style& style, std::span<const heap_place> places,
                                    std::size_t rows);

/// The colour of a heap, by its name, and that of what is not in DRAM.
rgb colour_of_heap(const std::string& name);
inline constexpr rgb kOutOfDram{52, 56, 64};

}  // namespace isotherm::top
