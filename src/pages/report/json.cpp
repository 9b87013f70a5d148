#include "pages/report/json.hpp"

#include <string>

#include "pages/report/heat_picture.hpp"
#include "pages/report/objects.hpp"

namespace isotherm::pages {
namespace {

using nlohmann::json;

json amounts_json(const amounts& a) {
  return {{"mapped_bytes", a.mapped},       {"resident_bytes", a.resident},
          {"untouched_bytes", a.untouched}, {"touched_bytes", a.touched},
          {"used_bytes", a.used},           {"used_line_bytes", a.lines}};
}

json distribution(const utilization_histogram& pages) {
  json shares = json::array();
  for (unsigned per_mille = 10; per_mille <= utilization_histogram::kSteps; per_mille += 10) {
    shares.push_back(pages.share_up_to(per_mille));
  }
  return shares;
}

json pages_json(const page_figures& p) {
  return {{"pages", p.pages},
          {"capacity_bytes", p.capacity},
          {"used_bytes", p.used},
          {"used_line_bytes", p.lines},
          {"utilization", p.utilization()},
          {"unreclaimable", p.pages == 0 ? 0 : 1 - p.utilization()},
          {"share_of_pages_by_percent_of_bytes", distribution(p.by_bytes)},
          {"share_of_pages_by_percent_of_lines", distribution(p.by_lines)}};
}

json window_json(const window_report& w) {
  json kinds = json::object();
  for (unsigned kind = 0; kind < kMappingKinds; ++kind) {
    kinds[std::string(name(static_cast<mapping_kind>(kind)))] = amounts_json(w.by_kind[kind]);
  }
  json mappings = json::array();
  for (const mapping_figures& m : w.mappings) {
    json row = amounts_json(m.sizes);
    row["name"] = m.name;
    row["kind"] = name(m.kind);
    mappings.push_back(std::move(row));
  }
  json all = amounts_json(w.all);
  all["could_leave_bytes"] = w.could_leave();
  all["could_leave_in_order_bytes"] = w.could_leave_in_order();
  all["resident_in_huge_pages_bytes"] = w.resident_in_huge;
  return {{"seconds", w.seconds},
          {"accesses", w.accesses},
          {"knows_resident", w.knows_resident},
          {"all", std::move(all)},
          {"pages_of_4_kib", pages_json(w.small)},
          {"pages_of_2_mib", pages_json(w.huge)},
          {"pages_of_real_size", pages_json(w.real)},
          {"objects", w.objects ? objects_json(w, *w.objects) : json(nullptr)},
          {"kinds", std::move(kinds)},
          {"mappings", std::move(mappings)}};
}

json heat_json(const heat_map& map) {
  json rows = json::array(), columns = json::array();
  for (const heat_row& row : map.rows) {
    rows.push_back(
        {{"address", row.begin}, {"name", row.label.name}, {"kind", name(row.label.kind)}});
  }
  for (const heat_column& column : map.columns) {
    json shares = json::array();
    for (const auto& share : column.shares) shares.push_back(share ? json(*share) : json());
    columns.push_back({{"first_window", column.first + 1},
                       {"last_window", column.last + 1},
                       {"used_share_of_held_bytes", std::move(shares)}});
  }
  return {{"row_bytes", map.step}, {"rows", std::move(rows)}, {"columns", std::move(columns)}};
}

}  // namespace

json to_json(const observation& seen) {
  json windows = json::array();
  for (const window_report& w : seen.windows) {
    windows.push_back(window_json(w));
    if (seen.traits.smallest == grain::byte) continue;
    for (const char* of : {"pages_of_4_kib", "pages_of_2_mib", "pages_of_real_size"}) {
      windows.back()[of] = nullptr;
    }
  }
  const bool has_heat = seen.traits.smallest == grain::byte && !seen.windows.empty();
  return {{"pages", seen.traits.name},
          {"subject", seen.traits.subject},
          {"grain", seen.traits.smallest == grain::byte ? "byte" : "page"},
          {"cannot_see", seen.traits.cannot_see},
          {"remarks", seen.remarks},
          {"exit_status", seen.exit_status},
          {"heat_map", has_heat ? heat_json(heat_map_of(seen)) : json()},
          {"windows", std::move(windows)}};
}

}  // namespace isotherm::pages
