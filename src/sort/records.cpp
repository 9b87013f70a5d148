#include "sort/records.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace isotherm::sort {
namespace {

constexpr unsigned kLengthBits = 24;
constexpr unsigned kFixedKeyRoom = 11;
constexpr unsigned kVariableKeyRoom = 8;
constexpr std::uint64_t kLengthField = 4;  // klv
constexpr std::uint64_t kFirstPiece = 256;
constexpr std::uint64_t kLargePiece = 64 << 10;
constexpr std::uint64_t kMostParts = 8;

}  // namespace

std::size_t field_start(const std::byte* line, std::size_t bytes, char separator, unsigned field) {
  const std::byte* at = line;
  const std::byte* const end = line + bytes;
  for (unsigned i = 1; i < field; ++i) {
    const void* found = std::memchr(at, separator, static_cast<std::size_t>(end - at));
    if (found == nullptr) return bytes;
    at = static_cast<const std::byte*>(found) + 1;
  }
  return static_cast<std::size_t>(at - line);
}

record_layout::record_layout(const sort_options& o)
    : format_(o.format),
      record_bytes_(o.record_bytes),
      key_bytes_(o.key_bytes),
      key_offset_(o.format == record_format::fixed ? o.key_offset : 0),
      separator_(o.separator),
      field_(o.format == record_format::lines ? o.field : 0),
      whole_line_last_(field_ > 1 && !o.stable && !o.unique && !o.count) {
  entries_.key_bytes = fixed() ? kFixedKeyRoom : kVariableKeyRoom;
  entries_.used_key_bytes = entries_.key_bytes;
  if (format_ != record_format::lines && key_bytes_ < entries_.key_bytes) {
    entries_.used_key_bytes = static_cast<unsigned>(key_bytes_);
  }
  entries_.reverse = o.reverse;
}

// Lines end their part of the key with a byte that counts what is left, so that a line that is a
// prefix of another comes first, and parts of short lines decide alone.
entry record_layout::variable_entry(const std::byte* record, std::uint64_t offset,
                                    std::uint64_t bytes) const {
  const std::uint64_t pointer = (offset << kLengthBits) | std::min(bytes, kLongRecord);
  if (format_ == record_format::klv) {
    return entries_.make(load_key(record, entries_.used_key_bytes), pointer);
  }
  const std::size_t text = bytes - 1;  // without the newline
  const std::size_t start = field_ > 1 ? field_start(record, text, separator_, field_) : 0;
  const std::size_t left = std::min<std::size_t>(text - start, kVariableKeyRoom);
  entry key = load_key(record + start, std::min<std::size_t>(left, kVariableKeyRoom - 1));
  key |= entry{left} << entries_.pointer_bits();
  return entries_.make(key, pointer);
}

bool record_layout::undecided(entry e) const noexcept {
  if (format_ != record_format::lines) return key_bytes_ > entries_.key_bytes;
  if (whole_line_last_) return true;
  const entry key = entries_.reverse ? ~e : e;
  return static_cast<unsigned char>(key >> entries_.pointer_bits()) == kVariableKeyRoom;
}

std::optional<record_layout::short_key> record_layout::whole_key(entry e) const noexcept {
  if (undecided(e)) return std::nullopt;
  const entry plain = entries_.reverse ? ~e : e;
  short_key key{{}, key_bytes_};
  if (format_ == record_format::lines) {
    key.size = static_cast<unsigned char>(plain >> entries_.pointer_bits());
  }
  const entry bytes = byteswap128(plain);
  std::memcpy(key.bytes.data(), &bytes, key.size);
  return key;
}

extent record_layout::locate(entry e, source_view& input) const {
  const std::uint64_t pointer = entries_.pointer(e);
  if (fixed()) return {pointer * record_bytes_, record_bytes_};
  extent x{pointer >> kLengthBits, pointer & kLongRecord};
  if (x.bytes < kLongRecord) return x;
  if (format_ == record_format::klv) {
    const std::byte* field = input.bytes(x.offset + key_bytes_, kLengthField);
    if (field == nullptr) return {x.offset, 0};
    std::uint32_t value = 0;
    std::memcpy(&value, field, kLengthField);
    return {x.offset, key_bytes_ + kLengthField + value};
  }
  constexpr std::uint64_t kStep = 65536;
  for (std::uint64_t at = x.offset; at < input.size(); at += kStep) {
    const std::size_t n = std::min(kStep, input.size() - at);
    const std::byte* text = input.bytes(at, n);
    if (text == nullptr) return {x.offset, 0};
    if (const void* end = std::memchr(text, '\n', n)) {
      const auto length = static_cast<const std::byte*>(end) - text;
      return {x.offset, at - x.offset + static_cast<std::uint64_t>(length) + 1};
    }
  }
  return {x.offset, input.size() - x.offset + 1};  // the last line, without its newline
}

extent record_layout::key_extent(entry e, bool whole_line, source_view& input) const {
  const extent record = locate(e, input);
  if (format_ != record_format::lines) return {record.offset + key_offset_, key_bytes_};
  const std::uint64_t text = record.bytes == 0 ? 0 : record.bytes - 1;
  if (whole_line || field_ <= 1) return {record.offset, text};
  std::uint64_t start = 0;
  constexpr std::uint64_t kStep = 65536;
  unsigned fields_left = field_ - 1;
  while (fields_left > 0 && start < text) {
    const std::size_t n = std::min(kStep, text - start);
    const std::byte* bytes = input.bytes(record.offset + start, n);
    if (bytes == nullptr) return {record.offset, 0};
    const void* found = std::memchr(bytes, separator_, n);
    if (found == nullptr) {
      start += n;
    } else {
      start += static_cast<std::uint64_t>(static_cast<const std::byte*>(found) - bytes) + 1;
      --fields_left;
    }
  }
  return {record.offset + start, text - start};
}

record_layout::part record_layout::key_part(entry e, std::uint64_t depth, bool whole_line,
                                            source_view& input) const {
  const bool text = format_ == record_format::lines;
  const std::uint64_t step = text ? entries_.key_bytes - 1 : entries_.key_bytes;
  const extent key = key_extent(e, whole_line, input);
  const std::uint64_t begin = std::min(key.bytes, depth * step);
  const std::uint64_t left = key.bytes - begin;
  const std::size_t n = std::min(left, step);
  const std::byte* bytes = n == 0 ? nullptr : input.bytes(key.offset + begin, n);
  entry high = bytes == nullptr ? 0 : load_key(bytes, n);
  if (text) high |= entry{std::min<std::uint64_t>(left, step + 1)} << entries_.pointer_bits();
  return {entries_.make(high, 0), left <= step};
}

// From the keys' beginning, in pieces that grow: most keys differ soon, some only after mebibytes.
int record_layout::compare_keys(entry a, entry b, bool whole_line, source_view& input) const {
  const extent x = key_extent(a, whole_line, input);
  const extent y = key_extent(b, whole_line, input);
  const std::uint64_t common = std::min(x.bytes, y.bytes);
  std::byte small[kFirstPiece];
  std::vector<std::byte> large;
  int order = 0;
  for (std::uint64_t at = 0; at < common && order == 0;) {
    const std::size_t n = std::min(at == 0 ? kFirstPiece : kLargePiece, common - at);
    const std::byte* p = input.bytes(x.offset + at, n);
    if (p == nullptr) return 0;
    if (at > 0) large.resize(kLargePiece);
    std::byte* copy = at > 0 ? large.data() : small;  // the view holds one piece at a time
    std::memcpy(copy, p, n);
    const std::byte* q = input.bytes(y.offset + at, n);
    if (q == nullptr) return 0;
    order = std::memcmp(copy, q, n);
    at += n;
  }
  if (order == 0) order = x.bytes < y.bytes ? -1 : x.bytes > y.bytes;
  return entries_.reverse ? -order : order;
}

int record_layout::compare(entry a, entry b, source_view& input) const {
  if (entries_.key(a) != entries_.key(b) || !undecided(a)) return a < b ? -1 : a > b;
  int order = compare_keys(a, b, false, input);
  if (order == 0 && whole_line_last_) order = compare_keys(a, b, true, input);
  if (order != 0) return order;
  return a < b ? -1 : a > b;
}

bool record_layout::same_key(entry a, entry b, source_view& input) const {
  if (entries_.key(a) != entries_.key(b)) return false;
  return !undecided(a) || compare_keys(a, b, false, input) == 0;
}

void record_layout::refine(std::span<entry> sorted, source_view& input) const {
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    const entry key = entries_.key(sorted[begin]);
    while (end < sorted.size() && entries_.key(sorted[end]) == key) ++end;
    if (end - begin > 1 && undecided(sorted[begin])) {
      refine_group(sorted.subspan(begin, end - begin), input);
      for (std::size_t i = begin; i < end; ++i) {
        sorted[i] = key | entries_.pointer(sorted[i]);
      }
    }
    begin = end;
  }
}

// By a heap: after a failed read comparisons contradict each other, and std::sort would then leave
// its range.
void record_layout::compare_group(std::span<entry> group, bool whole_line,
                                  source_view& input) const {
  std::partial_sort(group.begin(), group.end(), group.end(), [&](entry a, entry b) {
    int order = compare_keys(a, b, whole_line, input);
    if (order == 0 && whole_line_last_ && !whole_line) order = compare_keys(a, b, true, input);
    return order != 0 ? order < 0 : entries_.pointer(a) < entries_.pointer(b);
  });
}

// Multikey by parts: the next bytes of the key take the place of those that are equal, the group is
// sorted as integers again, and so on for groups that are still equal. What is equal after a few
// such steps is sorted by comparing keys: each step finds its place in the key anew, which would
// make long common beginnings cost the square of their length.
void record_layout::refine_group(std::span<entry> group, source_view& input) const {
  struct work {
    std::size_t begin, end;
    std::uint64_t depth;
    bool whole_line;
  };
  // A part of 8 (lines) or fewer key bytes may be empty already; the whole line starts anew.
  std::vector<work> todo{{0, group.size(), 1, false}};
  while (!todo.empty()) {
    const work w = todo.back();
    todo.pop_back();
    if (w.depth > kMostParts) {
      compare_group(group.subspan(w.begin, w.end - w.begin), w.whole_line, input);
      continue;
    }
    bool last = false;
    for (std::size_t i = w.begin; i < w.end; ++i) {
      const part p = key_part(group[i], w.depth, w.whole_line, input);
      group[i] = p.key | entries_.pointer(group[i]);
    }
    std::sort(group.begin() + static_cast<std::ptrdiff_t>(w.begin),
              group.begin() + static_cast<std::ptrdiff_t>(w.end));
    for (std::size_t begin = w.begin; begin < w.end;) {
      std::size_t end = begin + 1;
      while (end < w.end && entries_.key(group[end]) == entries_.key(group[begin])) ++end;
      if (end - begin > 1) {
        last = key_part(group[begin], w.depth, w.whole_line, input).last;
        if (!last) {
          todo.push_back({begin, end, w.depth + 1, w.whole_line});
        } else if (whole_line_last_ && !w.whole_line) {
          todo.push_back({begin, end, 0, true});
        }
      }
      begin = end;
    }
  }
}

}  // namespace isotherm::sort
