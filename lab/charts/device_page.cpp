#include "lab/charts/device_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

namespace isotherm::lab {
namespace {

constexpr double kWidth = 420;
constexpr double kHeight = 260;
constexpr double kLeft = 48;
constexpr double kRight = 96;  // room for the lines' names
constexpr double kTop = 30;
constexpr double kBottom = 36;
constexpr std::array<const char*, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#56b4e9", "#e69f00", "#444444"};

struct line {
  std::string name;
  std::vector<std::pair<double, double>> points;  // threads, GB/s
};

std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    switch (c) {
      case '<':
        all += "&lt;";
        break;
      case '&':
        all += "&amp;";
        break;
      default:
        all += c;
    }
  }
  return all;
}

std::string size_name(std::uint64_t bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1024 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} B", bytes);
}

/// A round number at or above `value`, for the axis.
double ceiling(double value) {
  if (value <= 0) return 1;
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double step : {1.0, 2.0, 5.0, 10.0}) {
    if (value <= step * power) return step * power;
  }
  return 10 * power;
}

void add_axes(std::string& svg, const std::string& title, const std::string& below, double most) {
  fmt::format_to(std::back_inserter(svg),
                 "<text x='{}' y='16' class='title'>{}</text>"
                 "<text x='{}' y='{}' text-anchor='middle'>{}</text>",
                 kLeft, title, (kLeft + kWidth - kRight) / 2, kHeight - 4, below);
  for (int i = 0; i <= 4; ++i) {
    const double y = kHeight - kBottom - (kHeight - kBottom - kTop) * i / 4;
    fmt::format_to(std::back_inserter(svg),
                   "<line x1='{}' x2='{}' y1='{}' y2='{}' class='grid'/>"
                   "<text x='{}' y='{}' text-anchor='end'>{:.3g}</text>",
                   kLeft, kWidth - kRight, y, y, kLeft - 6, y + 4, most * i / 4);
  }
}

/// Names at the lines' ends, moved apart where they would cover each other.
void add_names(std::string& svg, std::vector<std::pair<double, std::size_t>> ends,
               const std::vector<line>& lines) {
  std::sort(ends.begin(), ends.end());
  double last = kTop - 12;
  for (const auto& [y, i] : ends) {
    last = std::max(y + 4, last + 12);
    fmt::format_to(std::back_inserter(svg), "<text x='{}' y='{:.1f}' fill='{}'>{}</text>",
                   kWidth - kRight + 6, last, kColours[i % kColours.size()], lines[i].name);
  }
}

std::string chart(const std::string& title, const std::string& below,
                  const std::vector<line>& lines) {
  double most = 0;
  double widest = 1;
  for (const auto& l : lines) {
    for (const auto& [x, y] : l.points) {
      most = std::max(most, y);
      widest = std::max(widest, x);
    }
  }
  most = ceiling(most);
  std::string svg = fmt::format("<svg viewBox='0 0 {} {}' width='{}' height='{}'>", kWidth, kHeight,
                                kWidth, kHeight);
  add_axes(svg, title, below, most);
  const auto across = [&](double x) {
    return kLeft + (kWidth - kRight - kLeft) * std::log2(1 + x) / std::log2(1 + widest);
  };
  const auto up = [&](double y) {
    return kHeight - kBottom - (kHeight - kBottom - kTop) * y / most;
  };
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const char* colour = kColours[i % kColours.size()];
    std::string path;
    for (const auto& [x, y] : lines[i].points) {
      path += fmt::format("{:.1f},{:.1f} ", across(x), up(y));
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2.5' fill='{}'/>", across(x), up(y),
                         colour);
    }
    svg += fmt::format("<polyline points='{}' fill='none' stroke='{}' stroke-width='1.6'/>", path,
                       colour);
    if (!lines[i].points.empty()) ends.emplace_back(up(lines[i].points.back().second), i);
  }
  if (!lines.empty()) {
    for (const auto& [x, y] : lines.front().points) {
      svg += fmt::format("<text x='{:.1f}' y='{}' text-anchor='middle'>{}</text>", across(x),
                         kHeight - kBottom + 14, x);
    }
  }
  add_names(svg, std::move(ends), lines);
  return svg + "</svg>\n";
}

line curve_line(std::string name, const device::curve& c) {
  line l{std::move(name), {}};
  for (const auto& point : c) l.points.emplace_back(point.streams, point.bytes_per_s / 1e9);
  return l;
}

std::vector<line> size_lines(const std::vector<device::sized_curve>& curves) {
  std::vector<line> all;
  all.reserve(curves.size());
  for (const auto& c : curves) all.push_back(curve_line(size_name(c.access_bytes), c.bandwidth));
  return all;
}

std::string charts(const device::profile& p) {
  std::string all =
      chart("sequential reads, by access size", "threads", size_lines(p.sequential_read_sizes));
  if (!p.mapped_read_sizes.empty()) {
    all += chart("sequential reads through a mapping, by access size", "threads",
                 size_lines(p.mapped_read_sizes));
  }
  all += chart("random reads, by access size", "threads", size_lines(p.random_read));
  all += chart("writes, and reads of 10 B keys", "threads",
               {curve_line("writes", p.write), curve_line("keys", p.strided_read.bandwidth)});
  line reads{"reads", {}};
  line writes{"writes", {}};
  for (const auto& i : p.interference) {
    reads.points.emplace_back(i.writers, i.read_bytes_per_s / 1e9);
    writes.points.emplace_back(i.writers, i.write_bytes_per_s / 1e9);
  }
  all += chart("reads beside writers", "writing threads", {reads, writes});
  if (!p.direct.sequential_read.empty()) {
    all += chart("past the page cache: sequential reads", "threads",
                 size_lines(p.direct.sequential_read));
    all += chart("past the page cache: random reads", "threads", size_lines(p.direct.random_read));
    all += chart("past the page cache: writes", "threads", {curve_line("writes", p.direct.write)});
  }
  return all;
}

}  // namespace

std::string device_page(const device::profile& p) {
  const bool emulated = p.device.starts_with("emu:");
  std::string letters;
  for (const auto& l : device::braid(p)) {
    letters += fmt::format("<tr class='{}'><th>{}</th><td>{}</td><td>{}</td></tr>\n", name(l.holds),
                           l.letter, name(l.holds), escaped(l.why));
  }
  return fmt::format(
      "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'><title>Device profile</title>\n"
      "<style>body{{font:14px sans-serif;max-width:900px;margin:2em auto;color:#222}}"
      "svg{{background:#fff}}svg text{{font-size:11px}}.title{{font-size:13px;font-weight:bold}}"
      ".grid{{stroke:#ddd}}th{{font-size:20px;padding:0 .6em}}td{{padding:.3em .6em}}"
      "tr.no{{color:#888}}</style></head>\n<body><h1>{}</h1>\n<p>{}</p>\n"
      "<h2>BRAID</h2><table>{}</table>\n<h2>Bandwidth in GB/s</h2>\n{}\n"
      "<p>Past the page cache: {}.</p>\n</body></html>\n",
      escaped(p.path),
      emulated ? "Emulated device: " + escaped(p.device)
               : "Measured through the page cache where not said otherwise.",
      letters, charts(p), escaped(p.direct.way));
}

}  // namespace isotherm::lab
