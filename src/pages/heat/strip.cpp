#include "pages/heat/strip.hpp"

#include <algorithm>

#include "base/page.hpp"

namespace isotherm::pages {
namespace {

constexpr std::size_t kCellsMost = 1024;

}  // namespace

heat_strip_builder::heat_strip_builder(const memory_image& image) : search_(image.mappings) {
  made_.step = base::kPageBytes;
  std::map<memory_label, std::size_t> positions;
  const auto position_of = [&](memory_label label) {
    const auto [at, is_new] = positions.try_emplace(std::move(label), made_.labels.size());
    if (is_new) made_.labels.push_back(at->first);
    return at->second;
  };
  label_of_mapping_.reserve(image.mappings.size() + 1);
  for (const mapping& m : image.mappings) {
    label_of_mapping_.push_back(position_of({.kind = m.kind, .name = m.name}));
  }
  label_of_mapping_.push_back(position_of({}));
  add_resident(image);
}

void heat_strip_builder::add_resident(const memory_image& image) {
  ascending_search<mapping> mappings(image.mappings);
  for (const resident_range& r : image.resident) {
    const std::size_t label = label_of(mappings.find(r.begin));
    for (std::uint64_t at = r.begin; at < r.end;) {
      const std::uint64_t end = std::min(r.end, (at / made_.step + 1) * made_.step);
      add(label, at, end - at, 0);
      at = end;
    }
  }
}

void heat_strip_builder::add_touched(std::uint64_t address, std::uint64_t used, page_state state) {
  add(label_of(search_.find(address)), address, state == page_state::held ? 0 : base::kPageBytes,
      used);
}

void heat_strip_builder::add(std::size_t label, std::uint64_t address, std::uint64_t held,
                             std::uint64_t used) {
  amounts_of_cell& cell = cells_[{label, address / made_.step}];
  cell.held += held;
  cell.used += used;
  while (cells_.size() > std::max(kCellsMost, made_.labels.size())) widen();
}

void heat_strip_builder::widen() {
  made_.step *= 2;
  cells wider;
  for (const auto& [key, cell] : cells_) {
    amounts_of_cell& sum = wider[{key.first, key.second / 2}];
    sum.held += cell.held;
    sum.used += cell.used;
  }
  cells_ = std::move(wider);
}

heat_strip heat_strip_builder::finish() {
  made_.cells.reserve(cells_.size());
  for (const auto& [key, cell] : cells_) {
    made_.cells.push_back({key.first, key.second * made_.step, cell.held, cell.used});
  }
  return std::move(made_);
}

}  // namespace isotherm::pages
