#include "pages/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "pages/report/objects.hpp"
#include "pages/report/units.hpp"

namespace isotherm::pages {
namespace {

constexpr std::size_t kMappingsShown = 10;
constexpr std::array<unsigned, 6> kPerMille{30, 150, 250, 500, 750, 1000};

using text_end = std::back_insert_iterator<std::string>;

void print_held(text_end out, const window_report& w, grain smallest) {
  const unit in = unit_for(w);
  const bool bytes = smallest == grain::byte;
  const std::uint64_t held = w.all.resident;
  // Used bytes of memory that the program had given back by the end are not of what it holds.
  const std::uint64_t used =
      w.all.used - w.by_kind[static_cast<std::size_t>(mapping_kind::unknown)].used;
  const std::uint64_t could = w.could_leave() + (bytes ? w.could_leave_in_order() : 0);
  fmt::format_to(out,
                 "Of {:.1f} {} that it holds, {:.1f} {} ({:.1f}%) were {}, and {:.1f} {} ({:.1f}%) "
                 "could leave:\n",
                 in(held), in.name, in(used), in.name, percent(used, held),
                 bytes ? "used" : "touched", in(could), in.name, percent(could, held));
  fmt::format_to(out, "{:10.1f} {} {:5.1f}%  as the memory lies: pages that were not touched\n",
                 in(w.could_leave()), in.name, percent(w.could_leave(), held));
  if (!bytes) return;
  fmt::format_to(out, "{:10.1f} {} {:5.1f}%  more, if the lines that were used lay together\n",
                 in(w.could_leave_in_order()), in.name, percent(w.could_leave_in_order(), held));
}

void print_touched(text_end out, const window_report& w) {
  const unit in = unit_for(w);
  fmt::format_to(out,
                 "Of {:.1f} {} of pages that were touched, {:.1f} {} ({:.1f}%) were used; "
                 "{:.1f} {} could leave\nif the lines that were used lay together.\n",
                 in(w.all.touched), in.name, in(w.all.used), in.name,
                 percent(w.all.used, w.all.touched), in(w.could_leave_in_order()), in.name);
}

void print_share(text_end out, const window_report& w, unsigned per_mille) {
  const std::string label = fmt::format("at most {}%", per_mille / 10);
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
    print_share(out, w, step);
  }
  fmt::format_to(out, "  {:<22} {:6.1f}% {:6.1f}%   {:6.1f}% {:6.1f}%\n", "utilization",
                 100 * w.small.utilization(), percent(w.small.lines, w.small.capacity),
                 100 * w.huge.utilization(), percent(w.huge.lines, w.huge.capacity));
  fmt::format_to(out, "  {:<22} {:>15}   {:>15}\n", "pages", w.small.pages, w.huge.pages);
  const unit in = unit_for(w);
  fmt::format_to(out, "  {:<22} {:>11.1f} {}   {:>11.1f} {}\n", "capacity", in(w.small.capacity),
                 in.name, in(w.huge.capacity), in.name);
  if (w.resident_in_huge == 0) return;
  fmt::format_to(out,
                 "{:.1f} {} of what it holds lie in real pages of 2 MiB; with each page at its "
                 "real size, {:.1f}%\nof the touched pages' capacity was used.\n",
                 in(w.resident_in_huge), in.name, 100 * w.real.utilization());
}

/// Used bytes and lines stand only where a source tells them.
void print_amounts(text_end out, std::string_view label, const amounts& a, const unit& in,
                   grain smallest) {
  fmt::format_to(out, "  {:<22} {:9.1f} {:12.1f} {:9.1f}", label, in(a.resident), in(a.untouched),
                 in(a.touched));
  if (smallest == grain::byte) {
    fmt::format_to(out, " {:9.1f} {:9.1f} {:9.1f}%", in(a.used), in(a.lines),
                   percent(a.used, a.touched));
  }
  fmt::format_to(out, "\n");
}

void print_kinds(text_end out, const window_report& w, grain smallest) {
  const unit in = unit_for(w);
  fmt::format_to(out, "\n{}                         held  not touched   touched{}\n", in.name,
                 smallest == grain::byte ? "      used     lines  used/touched" : "");
  for (unsigned kind = 0; kind < kMappingKinds; ++kind) {
    const amounts& a = w.by_kind[kind];
    if (a.resident + a.touched == 0) continue;
    print_amounts(out, label_of(static_cast<mapping_kind>(kind), w), a, in, smallest);
  }
  print_amounts(out, "all", w.all, in, smallest);
}

std::string short_name(const mapping_figures& m, const window_report& w) {
  constexpr std::size_t kMost = 22;
  const std::string whole = m.name.empty() ? std::string(label_of(m.kind, w)) : m.name;
  const std::string last = whole.substr(whole.find_last_of('/') + 1);
  return last.size() <= kMost ? last : last.substr(0, kMost - 2) + "..";
}

void print_mappings(text_end out, const window_report& w, grain smallest) {
  const std::size_t shown = std::min(kMappingsShown, w.mappings.size());
  if (shown < 2) return;
  fmt::format_to(out, "The largest mappings\n");
  for (std::size_t i = 0; i < shown; ++i) {
    const mapping_figures& m = w.mappings[i];
    if (m.sizes.resident + m.sizes.touched > 0)
      print_amounts(out, short_name(m, w), m.sizes, unit_for(w), smallest);
  }
}

void print_window(text_end out, const window_report& w, grain smallest) {
  if (w.knows_resident) print_held(out, w, smallest);
  if (w.objects) fmt::format_to(out, "{}", objects_text(w, *w.objects));
  if (smallest == grain::byte) {
    if (!w.knows_resident) print_touched(out, w);
    const unit in = unit_for(w);
    fmt::format_to(
        out,
        "Page utilization is {:.1f}%: {:.1f}% of the {:.1f} {} of touched pages is cold, "
        "and cannot leave.\n",
        100 * w.small.utilization(), 100 - 100 * w.small.utilization(), in(w.small.capacity),
        in.name);
    print_utilization(out, w);
  }
  print_kinds(out, w, smallest);
  print_mappings(out, w, smallest);
}

}  // namespace

std::string_view label_of(mapping_kind kind, const window_report& w) {
  return kind == mapping_kind::unknown && w.knows_resident ? "given back by then" : name(kind);
}

std::string to_line(const window_report& w, grain smallest) {
  std::string line = fmt::format("{:8.1f} s", w.seconds);
  if (w.accesses > 0) line += fmt::format("  {:12} accesses", w.accesses);
  const unit in = unit_for(w);
  const auto add = [&](std::string_view label, std::uint64_t bytes) {
    line += fmt::format("  {} {:9.1f} {}", label, in(bytes), in.name);
  };
  if (w.knows_resident) add("held", w.all.resident);
  add("touched", w.all.touched);
  if (smallest == grain::byte) add("used", w.all.used);
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
