#include "pages/report/picture.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace isotherm::pages {
namespace {

constexpr double kWidth = 640, kHeight = 360;
constexpr double kLeft = 56, kRight = 24, kTop = 64, kBottom = 48;

double x_of(unsigned per_mille) {
  return kLeft + (kWidth - kLeft - kRight) * per_mille / utilization_histogram::kSteps;
}

double y_of(double share) { return kHeight - kBottom - (kHeight - kBottom - kTop) * share; }

std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '<') {
      all += "&lt;";
    } else if (c == '&') {
      all += "&amp;";
    } else if (static_cast<unsigned char>(c) >= ' ') {  // controls are no part of XML
      all += c;
    }
  }
  return all;
}

void draw_axes(std::string& svg) {
  const auto out = std::back_inserter(svg);
  for (unsigned percent = 0; percent <= 100; percent += 25) {
    const double x = x_of(percent * 10), y = y_of(percent / 100.0);
    fmt::format_to(out,
                   "<path d='M{} {}H{}' stroke='#ddd'/><text x='{}' y='{}' text-anchor='end'>{}%"
                   "</text><text x='{}' y='{}' text-anchor='middle'>{}%</text>\n",
                   kLeft, y, kWidth - kRight, kLeft - 6, y + 4, percent, x, kHeight - kBottom + 18,
                   percent);
  }
  fmt::format_to(out,
                 "<text x='{}' y='{}' text-anchor='middle'>bytes of a touched page that were used, "
                 "at most</text>\n",
                 (kLeft + kWidth - kRight) / 2, kHeight - 8);
}

/// A staircase: the share of pages up to each thousandth. `row` places its name.
void draw_curve(std::string& svg, const utilization_histogram& pages, std::string_view label,
                std::string_view colour, unsigned row) {
  const auto out = std::back_inserter(svg);
  fmt::format_to(out, "<path d='M{:.1f} {:.1f}", x_of(0), y_of(0));
  for (unsigned step = 1; step <= utilization_histogram::kSteps; ++step) {
    fmt::format_to(out, "V{:.1f}H{:.1f}", y_of(pages.share_up_to(step)), x_of(step));
  }
  const double y = kHeight - kBottom - 14 - 18.0 * row;
  fmt::format_to(out,
                 "' fill='none' stroke='{}' stroke-width='2'/>"
                 "<text x='{}' y='{}' text-anchor='end' fill='{}'>{}: {} pages</text>\n",
                 colour, kWidth - kRight - 8, y, colour, label, pages.pages());
}

}  // namespace

std::string to_picture(const observation& seen) {
  const window_report& w = seen.windows.back();
  std::string svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1}' width='{0}' height='{1}' "
      "font-family='sans-serif' font-size='13' fill='#222'>\n"
      "<rect width='{0}' height='{1}' rx='8' fill='#fff'/>\n"
      "<text x='16' y='24' font-weight='bold'>{2}: page utilization {3:.1f}%</text>\n"
      "<text x='16' y='44'>share of its touched pages, in {4:.1f} s; observed by {5}</text>\n",
      kWidth, kHeight, escaped(seen.traits.subject), 100 * w.small.utilization(), w.seconds,
      escaped(seen.traits.name));
  draw_axes(svg);
  draw_curve(svg, w.small.by_bytes, "of 4 KiB", "#08519c", 1);
  draw_curve(svg, w.huge.by_bytes, "as if of 2 MiB", "#d55e00", 0);
  return svg + "</svg>\n";
}

}  // namespace isotherm::pages
