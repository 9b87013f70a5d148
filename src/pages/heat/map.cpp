#include "pages/heat/map.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace isotherm::pages {
namespace {

constexpr std::size_t kLabelsMost = 8;

using strips = std::span<const heat_strip* const>;
using ranks = std::map<memory_label, std::size_t>;
/// Rank of the label, and address / step.
using place = std::pair<std::size_t, std::uint64_t>;

/// The labels that hold most, by their rank.
std::vector<memory_label> largest_labels(strips windows) {
  std::map<memory_label, std::uint64_t> held;
  for (const heat_strip* strip : windows) {
    for (const heat_cell& cell : strip->cells) held[strip->labels[cell.label]] += cell.held;
  }
  std::vector<std::pair<std::uint64_t, memory_label>> sorted;
  sorted.reserve(held.size());
  for (auto& [label, bytes] : held) sorted.emplace_back(bytes, label);
  std::ranges::sort(sorted, std::greater());
  sorted.resize(std::min(sorted.size(), kLabelsMost));
  std::vector<memory_label> labels;
  labels.reserve(sorted.size());
  for (auto& [bytes, label] : sorted) labels.push_back(std::move(label));
  return labels;
}

/// Calls visit(rank, cell) for each cell of a label that is shown.
void visit_shown(const heat_strip& strip, const ranks& shown,
                 const std::function<void(std::size_t, const heat_cell&)>& visit) {
  for (const heat_cell& cell : strip.cells) {
    const auto found = shown.find(strip.labels[cell.label]);
    if (found != shown.end()) visit(found->second, cell);
  }
}

std::set<place> places(strips windows, const ranks& shown, std::uint64_t step) {
  std::set<place> all;
  for (const heat_strip* strip : windows) {
    visit_shown(*strip, shown, [&](std::size_t rank, const heat_cell& cell) {
      all.emplace(rank, cell.begin / step);
    });
  }
  return all;
}

heat_column column_of(strips windows, const ranks& shown, const std::map<place, std::size_t>& rows,
                      std::uint64_t step) {
  std::vector<std::uint64_t> held(rows.size()), used(rows.size());
  for (const heat_strip* strip : windows) {
    visit_shown(*strip, shown, [&](std::size_t rank, const heat_cell& cell) {
      const std::size_t row = rows.at({rank, cell.begin / step});
      held[row] += cell.held;
      used[row] += cell.used;
    });
  }
  heat_column column;
  column.shares.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (held[i] > 0) column.shares[i] = static_cast<double>(used[i]) / static_cast<double>(held[i]);
  }
  return column;
}

}  // namespace

heat_map make_heat_map(strips windows) {
  heat_map made;
  const std::vector<memory_label> labels = largest_labels(windows);
  ranks shown;
  for (std::size_t i = 0; i < labels.size(); ++i) shown[labels[i]] = i;
  for (const heat_strip* strip : windows) made.step = std::max(made.step, strip->step);
  std::set<place> found = places(windows, shown, made.step);
  while (found.size() > kHeatRowsMost) {
    made.step *= 2;
    found = places(windows, shown, made.step);
  }
  std::map<place, std::size_t> rows;
  for (const place& at : found) {
    rows.emplace(at, made.rows.size());
    made.rows.push_back({labels[at.first], at.second * made.step});
  }
  const std::size_t side_by_side = (windows.size() + kHeatColumnsMost - 1) / kHeatColumnsMost;
  for (std::size_t first = 0; first < windows.size(); first += side_by_side) {
    const std::size_t count = std::min(side_by_side, windows.size() - first);
    made.columns.push_back(column_of(windows.subspan(first, count), shown, rows, made.step));
    made.columns.back().first = first;
    made.columns.back().last = first + count - 1;
  }
  return made;
}

}  // namespace isotherm::pages
