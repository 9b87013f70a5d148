#include "pages/report/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "pages/report/units.hpp"

namespace isotherm::pages {
namespace {

using nlohmann::json;

constexpr std::size_t kSitesShown = 8;
constexpr std::size_t kFunctionsShown = 10;  // inlined ones, too
constexpr std::size_t kNameColumns = 80;

using text_end = std::back_insert_iterator<std::string>;

/// Bytes that could leave DRAM, beside those on pages that were not touched.
std::uint64_t saved_by_order(const window_report& w, const object_figures& o) {
  const std::uint64_t in_use = w.all.resident - w.all.untouched;
  return in_use - std::min(in_use, o.predicted());
}

void print_answer(text_end out, const window_report& w, const object_figures& o) {
  const unit in = unit_for(w);
  fmt::format_to(
      out,
      "Objects ordered by temperature would hold {:.1f} {}: {:.1f} {} of touched objects "
      "and {:.1f} {} of\nother touched memory. {:.1f} {} more than as the memory lies "
      "could leave.\n",
      in(o.predicted()), in.name, in(o.predicted() - o.other), in.name, in(o.other), in.name,
      in(saved_by_order(w, o)), in.name);
  fmt::format_to(out,
                 "{} objects live, of {:.1f} {} ({:.1f} {} as the allocator rounds sizes); {} of "
                 "them, {:.1f} {}, were touched.\n",
                 o.all.objects, in(o.all.asked), in.name, in(o.all.usable), in.name,
                 o.all.touched_objects, in(o.all.touched), in.name);
}

void print_row(text_end out, std::string_view label, const object_sizes& s, const unit& in) {
  fmt::format_to(out, "  {:<16} {:>10} {:>10.1f} {:>10} {:>10.1f} {:>10.1f} {:>10.1f} {:>9.1f}\n",
                 label, s.objects, in(s.asked), s.touched_objects, in(s.touched), in(s.used),
                 in(s.untouched()), s.mean_age());
}

std::string size_label(std::uint64_t bytes) {
  if (bytes < 1 << 10) return fmt::format("<= {} B", bytes);
  if (bytes < 1 << 20) return fmt::format("<= {} KiB", bytes >> 10);
  return fmt::format("<= {} MiB", bytes >> 20);
}

void print_sizes(text_end out, const window_report& w, const object_figures& o) {
  const unit in = unit_for(w);
  fmt::format_to(out,
                 "\nObjects by size, {}  number     bytes    touched     bytes       used  "
                 "untouched  age, s\n",
                 in.name);
  for (const size_class_figures& c : o.by_size) {
    print_row(out, size_label(c.largest), c.sizes, in);
  }
  print_row(out, "all", o.all, in);
}

/// A name without template arguments, parameters and what it returns: "int a::b<c>::d(int) const"
/// is "a::b::d".
std::string short_name(std::string_view name) {
  name = name.substr(0, name.find(" [clone"));
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  std::string kept;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i).starts_with(kUnnamed)) {
      i += kUnnamed.size() - 1;
      continue;
    }
    const bool opens = name[i] == '<' || name[i] == '(';
    const bool closes = (name[i] == '>' && i > 0 && name[i - 1] != '-') || name[i] == ')';
    if (opens && kept.ends_with("operator")) return std::string(name.substr(0, kNameColumns));
    depth += opens ? 1 : 0;
    if (depth == 0) kept += name[i];
    depth -= closes && depth > 0 ? 1 : 0;
  }
  if (kept.ends_with(" const")) kept.resize(kept.size() - 6);
  return kept.substr(kept.rfind(' ') + 1);
}

std::string text_of(const call_frame& frame) {
  std::string text = short_name(frame.function);
  if (text.size() > kNameColumns) text = text.substr(0, kNameColumns) + "..";
  if (!frame.source.empty()) text += " " + frame.source;
  if (!frame.line.empty()) text += "  " + frame.line.substr(0, kNameColumns);
  return text;
}

void print_site(text_end out, const site_figures& site, const unit& in) {
  const object_sizes& s = site.sizes;
  fmt::format_to(
      out, "  {:.1f} {} untouched of {:.1f}; {} of {} objects touched; mean age {:.1f} s\n",
      in(s.untouched()), in.name, in(s.asked), s.touched_objects, s.objects, s.mean_age());
  const std::size_t shown = std::min(kFunctionsShown, site.functions.size());
  for (std::size_t i = 0; i < shown; ++i) {
    fmt::format_to(out, "      {}\n", text_of(site.functions[i]));
  }
  if (shown == 0) fmt::format_to(out, "      call stack not known\n");
}

void print_sites(text_end out, const window_report& w, const object_figures& o) {
  const std::size_t shown = std::min(kSitesShown, o.by_site.size());
  fmt::format_to(out, "\nAllocation sites, most untouched bytes first: {} of {}\n", shown, o.sites);
  for (std::size_t i = 0; i < shown; ++i) print_site(out, o.by_site[i], unit_for(w));
  fmt::format_to(out, "\n");
}

json sizes_json(const object_sizes& s) {
  return {{"objects", s.objects},
          {"bytes", s.asked},
          {"usable_bytes", s.usable},
          {"touched_objects", s.touched_objects},
          {"touched_bytes", s.touched},
          {"untouched_bytes", s.untouched()},
          {"used_bytes", s.used},
          {"used_line_bytes", s.lines},
          {"mean_age_seconds", s.mean_age()}};
}

json site_json(const site_figures& site) {
  json row = sizes_json(site.sizes);
  row["functions"] = json::array();
  for (const call_frame& frame : site.functions) {
    row["functions"].push_back(
        {{"name", frame.function}, {"source", frame.source}, {"line", frame.line}});
  }
  return row;
}

}  // namespace

std::string objects_text(const window_report& w, const object_figures& o) {
  std::string text;
  const auto out = std::back_inserter(text);
  print_answer(out, w, o);
  print_sizes(out, w, o);
  print_sites(out, w, o);
  return text;
}

json objects_json(const window_report& w, const object_figures& o) {
  json by_size = json::array(), by_site = json::array();
  for (const size_class_figures& c : o.by_size) {
    by_size.push_back(sizes_json(c.sizes));
    by_size.back()["largest_bytes"] = c.largest;
  }
  for (const site_figures& site : o.by_site) by_site.push_back(site_json(site));
  return {{"all", sizes_json(o.all)},
          {"other_touched_bytes", o.other},
          {"predicted_resident_bytes", o.predicted()},
          {"could_leave_in_order_bytes", saved_by_order(w, o)},
          {"sites", o.sites},
          {"by_size", std::move(by_size)},
          {"by_site", std::move(by_site)}};
}

}  // namespace isotherm::pages
