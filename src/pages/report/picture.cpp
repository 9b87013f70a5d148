#include "pages/report/picture.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "pages/report/svg.hpp"

namespace isotherm::pages {
namespace {

constexpr double kWidth = 640, kHeight = 360;
constexpr double kLeft = 56, kRight = 24, kTop = 64, kBottom = 48;

double x_of(unsigned per_mille) {
  return kLeft + (kWidth - kLeft - kRight) * per_mille / utilization_histogram::kSteps;
}

double y_of(double share) { return kHeight - kBottom - (kHeight - kBottom - kTop) * share; }

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
  std::string svg = svg_begin(
      kWidth, kHeight,
      fmt::format("{}: page utilization {:.1f}%", seen.traits.subject, 100 * w.small.utilization()),
      fmt::format("share of its touched pages, in {:.1f} s; observed by {}", w.seconds,
                  seen.traits.name));
  draw_axes(svg);
  draw_curve(svg, w.small.by_bytes, "of 4 KiB", "#08519c", 1);
  draw_curve(svg, w.huge.by_bytes, "as if of 2 MiB", "#d55e00", 0);
  return svg + "</svg>\n";
}

}  // namespace isotherm::pages
