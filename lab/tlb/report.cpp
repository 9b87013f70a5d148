#include "lab/tlb/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/tlb/model.hpp"
#include "os/memory/huge_pages.hpp"
#include "tool/origin.hpp"

namespace isotherm::lab {
namespace {

using json = nlohmann::ordered_json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json json_of(const spread& of) {
  return {{"median", of.median}, {"least", of.least}, {"most", of.most}};
}

json row_of(const tlb_row& row) {
  return {{"hot_share", row.hot_share},
          {"hot_objects", row.hot_objects},
          {"access", name_of(row.access)},
          {"page_bytes", bytes_of(row.pages)},
          {"layout", name_of(row.placed)},
          {"pages_touched", row.pages_touched},
          {"ns_per_access", json_of(row.ns)},
          {"speedup", row.speedup ? json_of(*row.speedup) : json()},
          {"tlb_misses_per_access", or_null(row.tlb_misses)},
          {"last_cache_misses_per_access", or_null(row.last_cache_misses)}};
}

/// The model's answer for two layouts: one access to each hot object, in order of address.
struct modelled {
  std::uint64_t objects, page_bytes, clustered_pages, scattered_pages;

  double clustered() const { return translation_cycles(objects, clustered_pages); }
  double scattered() const { return translation_cycles(objects, scattered_pages); }
  double ratio() const { return scattered() / clustered(); }
};

modelled paper_scenario() {
  const hot_scenario paper;
  return {.objects = paper.hot_objects(),
          .page_bytes = paper.page_bytes,
          .clustered_pages = paper.clustered_pages(),
          .scattered_pages = paper.scattered_pages()};
}

const tlb_row* find_row(const tlb_result& found, const tlb_row& like, layout placed) {
  const auto at = std::ranges::find_if(found.rows, [&](const tlb_row& row) {
    return row.hot_share == like.hot_share && row.pages == like.pages && row.placed == placed;
  });
  return at == found.rows.end() ? nullptr : &*at;
}

/// For each hot set and size of pages, with the pages that this run's layouts touched.
std::vector<std::pair<double, modelled>> run_scenarios(const tlb_result& found) {
  std::vector<std::pair<double, modelled>> all;
  for (const tlb_row& row : found.rows) {
    const tlb_row* const clustered = find_row(found, row, layout::clustered);
    if (find_row(found, row, layout::scattered) != &row || clustered == nullptr) continue;
    all.emplace_back(row.hot_share, modelled{.objects = row.hot_objects,
                                             .page_bytes = bytes_of(row.pages),
                                             .clustered_pages = clustered->pages_touched,
                                             .scattered_pages = row.pages_touched});
  }
  return all;
}

json json_of(const modelled& of) {
  return {{"accesses", of.objects},
          {"page_bytes", of.page_bytes},
          {"clustered_pages", of.clustered_pages},
          {"scattered_pages", of.scattered_pages},
          {"clustered_cycles", of.clustered()},
          {"scattered_cycles", of.scattered()},
          {"ratio", of.ratio()}};
}

json model_of(const tlb_result& found) {
  constexpr translation_costs kCosts;
  json runs = json::array();
  for (const auto& [hot_share, each] : run_scenarios(found)) {
    json one{{"hot_share", hot_share}};
    one.update(json_of(each));
    runs.push_back(std::move(one));
  }
  return {{"source", "computed"},
          {"hit_cycles", kCosts.hit_cycles},
          {"walk_cycles", kCosts.walk_cycles},
          {"first_walk_cycles", kCosts.first_walk_cycles},
          {"paper", json_of(paper_scenario())},
          {"runs", std::move(runs)}};
}

std::string page_text(std::uint64_t page_bytes) {
  return page_bytes == bytes_of(page_size::huge) ? "2 MiB" : "4 KiB";
}

std::string huge_text(const tlb_plan& plan, const tlb_result& found) {
  if (!found.huge_bytes) return "";
  const std::string came =
      fmt::format("2 MiB pages: {} of {} MiB came in them (smaps; setting of the system: {})",
                  *found.huge_bytes >> 20, plan.asked.region_bytes >> 20, os::huge_page_setting());
  return came + (*found.huge_bytes == 0 ? "; their rows are left out\n" : "\n");
}

std::string misses_text(const tlb_result& found) {
  if (found.why_no_misses.empty()) return "";
  return fmt::format("TLB misses are not counted: {}\n", found.why_no_misses);
}

std::string text_of(const tlb_row& row) {
  const std::string hot = fmt::format("{:g}%, {} objects", row.hot_share * 100, row.hot_objects);
  std::string text =
      fmt::format("{:<23}{:<13}{:<7}{:<11}{:>9} {:>8.2f} {:>16} {:>7}", hot, name_of(row.access),
                  page_text(bytes_of(row.pages)), name_of(row.placed), row.pages_touched,
                  row.ns.median, fmt::format("({:.2f}..{:.2f})", row.ns.least, row.ns.most),
                  row.speedup ? fmt::format("{:.2f}", row.speedup->median) : "-");
  if (row.tlb_misses) text += fmt::format(" {:>8.3f}", *row.tlb_misses);
  return text + "\n";
}

std::string text_of(const std::string& name, const modelled& of) {
  return fmt::format("{:<23}{:>11} {:>10} {:>10.3f} {:>10} {:>10.3f} {:>7.1f}\n", name, of.objects,
                     of.clustered_pages, of.clustered() / 1e6, of.scattered_pages,
                     of.scattered() / 1e6, of.ratio());
}

std::string model_text(const tlb_result& found) {
  constexpr translation_costs kCosts;
  std::string text = fmt::format(
      "\ncomputed, not measured (Dissertation 4.3.2): millions of cycles to translate addresses, "
      "one "
      "access to\neach hot object in order of address: accesses x {} + {} + pages x {}\n",
      kCosts.hit_cycles, kCosts.first_walk_cycles, kCosts.walk_cycles);
  text += fmt::format("{:<23}{:>11} {:>10} {:>10} {:>10} {:>10} {:>7}\n", "hot, pages", "accesses",
                      "clustered", "cycles", "scattered", "cycles", "ratio");
  text += text_of("1% of 256 GiB, 4 KiB", paper_scenario());
  for (const auto& [hot_share, each] : run_scenarios(found)) {
    text += text_of(fmt::format("{:g}%, {}", hot_share * 100, page_text(each.page_bytes)), each);
  }
  return text;
}

}  // namespace

json to_json(const tlb_plan& plan, const tlb_result& found) {
  json rows = json::array();
  for (const tlb_row& row : found.rows) rows.push_back(row_of(row));
  return {{"benchmark", "tlb"},
          {"region_bytes", plan.asked.region_bytes},
          {"object_bytes", plan.asked.object_bytes},
          {"accesses", plan.asked.accesses},
          {"rounds", plan.asked.rounds},
          {"seed", plan.seed},
          {"huge_page_bytes", or_null(found.huge_bytes)},
          {"huge_page_setting", os::huge_page_setting()},
          {"why_no_tlb_misses", found.why_no_misses.empty() ? json() : json(found.why_no_misses)},
          {"rows", std::move(rows)},
          {"model", model_of(found)},
          {"origin", tool::origin()}};
}

std::string to_text(const tlb_plan& plan, const tlb_result& found) {
  std::string text = fmt::format("{} MiB of objects of {} bytes; {} rounds, seed {}\n",
                                 plan.asked.region_bytes >> 20, plan.asked.object_bytes,
                                 plan.asked.rounds, plan.seed);
  text += huge_text(plan, found);
  text += misses_text(found);
  text += fmt::format("\n{:<23}{:<13}{:<7}{:<11}{:>9} {:>8} {:>16} {:>7}{}\n", "hot", "access",
                      "pages", "layout", "touched", "ns", "(least..most)", "speedup",
                      found.why_no_misses.empty() ? "   misses" : "");
  for (const tlb_row& row : found.rows) text += text_of(row);
  return text + model_text(found);
}

}  // namespace isotherm::lab
