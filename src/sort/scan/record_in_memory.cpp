#include "sort/scan/record_in_memory.hpp"

#include <algorithm>
#include <cstring>

namespace isotherm::sort {
namespace {

int compare_bytes(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  const int order = std::memcmp(a.data(), b.data(), std::min(a.size(), b.size()));
  if (order != 0) return order;
  return a.size() < b.size() ? -1 : a.size() > b.size();
}

}  // namespace

int compare_keys(const record_layout& layout, const record_in_memory& a,
                 const record_in_memory& b) noexcept {
  const entry_layout& l = layout.entries();
  if (l.key(a.place) != l.key(b.place)) return l.key(a.place) < l.key(b.place) ? -1 : 1;
  if (!layout.undecided(a.place)) return 0;
  const int order = compare_bytes(a.key(), b.key());
  return l.reverse ? -order : order;
}

int compare_records(const record_layout& layout, const record_in_memory& a,
                    const record_in_memory& b) noexcept {
  const int order = compare_keys(layout, a, b);
  if (order != 0 || !layout.ties_by_line()) return order;
  const int lines = compare_bytes({a.first, a.bytes - 1}, {b.first, b.bytes - 1});
  return layout.entries().reverse ? -lines : lines;
}

bool comes_before(const record_layout& layout, const record_in_memory& a,
                  const record_in_memory& b) noexcept {
  const int order = compare_records(layout, a, b);
  return order != 0 ? order < 0 : a.place < b.place;
}

}  // namespace isotherm::sort
