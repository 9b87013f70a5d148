#include "pages/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace isotherm::pages {
namespace {

constexpr std::size_t kMappingsShown = 10;
constexpr std::array<unsigned, 6> kPerMille{30, 150, 250, 500, 750, 1000};

double mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

using text_end = std::back_insert_iterator<std::string>;

void print_held(text_end out, const window_report& w, grain smallest) {
  const bool bytes = smallest == grain::byte;
  const std::uint64_t could = w.could_leave() + (bytes ? w.could_leave_in_order() : 0);
  fmt::format_to(out,
                 "Of {:.1f} MiB that it holds, {:.1f} MiB ({:.1f}%) were used, and {:.1f} MiB "
                 "({:.1f}%) could leave:\n",
                 mib(w.all.resident), mib(w.all.used), percent(w.all.used, w.all.resident),
                 mib(could), percent(could, w.all.resident));
  fmt::format_to(out, "{:10.1f} MiB {:5.1f}%  as the memory lies: pages that were not touched\n",
                 mib(w.could_leave()), percent(w.could_leave(), w.all.resident));
  if (!bytes) return;
  fmt::format_to(out, "{:10.1f} MiB {:5.1f}%  more, if the lines that were used lay together\n",
                 mib(w.could_leave_in_order()), percent(w.could_leave_in_order(), w.all.resident));
}

void print_touched(text_end out, const window_report& w) {
  fmt::format_to(out,
                 "Of {:.1f} MiB of pages that were touched, {:.1f} MiB ({:.1f}%) were used; "
                 "{:.1f} MiB could leave\nif the lines that were used lay together.\n",
                 mib(w.all.touched), mib(w.all.used), percent(w.all.used, w.all.touched),
                 mib(w.could_leave_in_order()));
}

void print_share(text_end out, const char* label, const window_report& w, unsigned per_mille) {
  fmt::format_to(
      out, "  {:<22} {:6.1f}% {:6.1f}%   {:6.1f}% {:6.1f}%\n", label,
      100 * w.small.by_bytes.share_up_to(per_mille), 100 * w.small.by_lines.share_up_to(per_mille),
      100 * w.huge.by_bytes.share_up_to(per_mille), 100 * w.huge.by_lines.share_up_to(per_mille));
}

void print_utilization(text_end out, const window_report& w) {
  fmt::format_to(out,
                 "\nTouched pages            of 4 KiB          as if of 2 MiB\n"
                 "  used, of a page         bytes   lines     bytes   lines\n");
  for (const unsigned step : kPerMille) {
    print_share(out, fmt::format("at most {}%", step / 10).c_str(), w, step);
  }
  fmt::format_to(out, "  {:<22} {:6.1f}% {:6.1f}%   {:6.1f}% {:6.1f}%\n", "utilization",
                 100 * w.small.utilization(), percent(w.small.lines, w.small.capacity),
                 100 * w.huge.utilization(), percent(w.huge.lines, w.huge.capacity));
  fmt::format_to(out, "  {:<22} {:>15}   {:>15}\n", "pages", w.small.pages, w.huge.pages);
  fmt::format_to(out, "  {:<22} {:>11.1f} MiB   {:>11.1f} MiB\n", "capacity", mib(w.small.capacity),
                 mib(w.huge.capacity));
  if (w.resident_in_huge == 0) return;
  fmt::format_to(out,
                 "Of what it holds, {:.1f} MiB lie in real pages of 2 MiB; with each page at its "
                 "real size, {:.1f}%\nof the touched pages' capacity was used.\n",
                 mib(w.resident_in_huge), 100 * w.real.utilization());
}

void print_amounts(text_end out, const std::string& label, const amounts& a) {
  fmt::format_to(out, "  {:<22} {:9.1f} {:12.1f} {:9.1f} {:9.1f} {:9.1f} {:9.1f}%\n", label,
                 mib(a.resident), mib(a.untouched), mib(a.touched), mib(a.used), mib(a.lines),
                 percent(a.used, a.touched));
}

void print_kinds(text_end out, const window_report& w) {
  fmt::format_to(out,
                 "\nMiB                         held  not touched   touched      used     lines  "
                 "used/touched\n");
  for (unsigned kind = 0; kind < kMappingKinds; ++kind) {
    const amounts& a = w.by_kind[kind];
    if (a.resident + a.touched == 0) continue;
    print_amounts(out, std::string(name(static_cast<mapping_kind>(kind))), a);
  }
  print_amounts(out, "all", w.all);
}

std::string short_name(const mapping_figures& m) {
  constexpr std::size_t kMost = 22;
  const std::string whole = m.name.empty() ? std::string(name(m.kind)) : m.name;
  const std::string last = whole.substr(whole.find_last_of('/') + 1);
  return last.size() <= kMost ? last : last.substr(0, kMost - 2) + "..";
}

void print_mappings(text_end out, const window_report& w) {
  const std::size_t shown = std::min(kMappingsShown, w.mappings.size());
  if (shown < 2) return;
  fmt::format_to(out, "The largest mappings\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const mapping_figures& m = w.mappings[i];
    if (m.sizes.resident + m.sizes.touched > 0) print_amounts(out, short_name(m), m.sizes);
  }
}

void print_window(text_end out, const window_report& w, grain smallest) {
  if (w.knows_resident) print_held(out, w, smallest);
  if (smallest == grain::byte) {
    if (!w.knows_resident) print_touched(out, w);
    fmt::format_to(out,
                   "Page utilization is {:.1f}%: {:.1f}% of the {:.1f} MiB of touched pages is "
                   "cold, and cannot leave.\n",
                   100 * w.small.utilization(), 100 - 100 * w.small.utilization(),
                   mib(w.small.capacity));
    print_utilization(out, w);
  }
  print_kinds(out, w);
  print_mappings(out, w);
}

}  // namespace

std::string to_line(const window_report& w, grain smallest) {
  std::string line = fmt::format("{:8.1f} s", w.seconds);
  if (w.accesses > 0) line += fmt::format("  {:12} accesses", w.accesses);
  if (w.knows_resident) line += fmt::format("  held {:9.1f} MiB", mib(w.all.resident));
  line += fmt::format("  touched {:9.1f} MiB", mib(w.all.touched));
  if (smallest == grain::byte) line += fmt::format("  used {:9.1f} MiB", mib(w.all.used));
  return line;
}

std::string to_text(const observation& seen) {
  std::string text;
  const auto out = std::back_inserter(text);
  const grain smallest = seen.traits.smallest;
  if (seen.windows.empty()) {
    fmt::format_to(out, "{}: it ended before the first window began\n", seen.traits.subject);
  } else {
    fmt::format_to(out, "{}, observed by {}: window {} of {}\n{}\n\n", seen.traits.subject,
                   seen.traits.name, seen.windows.size(), seen.windows.size(),
                   to_line(seen.windows.back(), smallest));
    print_window(out, seen.windows.back(), smallest);
  }
  if (seen.windows.size() > 1) {
    fmt::format_to(out, "\nWindows\n");
    for (const window_report& w : seen.windows) {
      fmt::format_to(out, "{}\n", to_line(w, smallest));
    }
  }
  fmt::format_to(out, "\n");
  for (const std::string& remark : seen.remarks) fmt::format_to(out, "{}\n", remark);
  for (const std::string& limit : seen.traits.cannot_see) fmt::format_to(out, "{}\n", limit);
  return text;
}

}  // namespace isotherm::pages
