#include "sort/input/in_memory.hpp"

#include <algorithm>
#include <cstring>

namespace isotherm::sort {

int compare_records(const record_layout& layout, const std::byte* a, const std::byte* b) noexcept {
  return layout.compare_fixed(a + layout.key_offset(), b + layout.key_offset());
}

void take_keys(const record_layout& layout, std::span<const std::byte> records,
               std::span<entry> index, std::size_t begin, std::size_t end) noexcept {
  const std::byte* key = records.data() + begin * layout.record_bytes() + layout.key_offset();
  for (std::size_t i = begin; i < end; ++i, key += layout.record_bytes()) {
    index[i] = layout.fixed_entry(key, i);
  }
}

void tell_apart(const record_layout& layout, std::span<const std::byte> records,
                std::span<entry> index) {
  const entry_layout& l = layout.entries();
  if (layout.key_bytes() <= l.key_bytes) return;
  for (auto begin = index.begin(); begin != index.end();) {
    auto end = begin + 1;
    while (end != index.end() && l.key(*end) == l.key(*begin)) ++end;
    std::sort(begin, end, [&](entry a, entry b) {
      const int order = compare_records(layout, &records[l.pointer(a) * layout.record_bytes()],
                                        &records[l.pointer(b) * layout.record_bytes()]);
      return order != 0 ? order < 0 : a < b;
    });
    begin = end;
  }
}

}  // namespace isotherm::sort
