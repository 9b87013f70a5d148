#include "pages/report/svg.hpp"

#include <fmt/format.h>

namespace isotherm::pages {

std::string svg_escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '<') {
      all += "&lt;";
    } else if (c == '&') {
      all += "&amp;";
    } else if (static_cast<unsigned char>(c) >= ' ') {
      all += c;
    }
  }
  return all;
}

std::string svg_begin(double width, double height, std::string_view title, std::string_view line) {
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='13' fill='#222'>\n"
      "<rect width='{0}' height='{1}' rx='8' fill='#fff'/>\n"
      "<text x='16' y='24' font-weight='bold'>{2}</text>\n"
      "<text x='16' y='44'>{3}</text>\n",
      width, height, svg_escaped(title), svg_escaped(line));
}

}  // namespace isotherm::pages
