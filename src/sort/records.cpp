#include "sort/records.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

namespace isotherm::sort {
namespace {

constexpr unsigned kFixedKeyRoom = 11;
constexpr unsigned kVariableKeyRoom = 8;
constexpr std::uint64_t kFirstPiece = 256;
constexpr std::uint64_t kLargePiece = 64 << 10;
constexpr std::uint64_t kSkipPiece = 4096;
constexpr unsigned kMostSplits = 16;
constexpr std::size_t kAskEntries = 1024;  // between questions whether to go on
constexpr std::size_t kAheadBytes = 256 << 10;
constexpr std::uint64_t kPage = 4096;

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

extent record_layout::locate(entry e, const source_view& input) const {
  const std::uint64_t pointer = entries_.pointer(e);
  if (fixed()) return {pointer * record_bytes_, record_bytes_};
  const extent x{pointer >> kLengthBits, pointer & kLongRecord};
  return x.bytes < kLongRecord ? x : extent{x.offset, input.noted_length(x.offset)};
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
  const extent key = key_extent(e, whole_line, input);
  const std::uint64_t begin = std::min(key.bytes, depth);
  const std::uint64_t left = key.bytes - begin;
  const std::size_t n = std::min(left, step());
  const std::byte* bytes = n == 0 ? nullptr : input.bytes(key.offset + begin, n);
  entry high = bytes == nullptr ? 0 : load_key(bytes, n);
  if (!fixed_keys()) {
    high |= entry{std::min<std::uint64_t>(left, step() + 1)} << entries_.pointer_bits();
  }
  return {entries_.make(high, 0), left <= step()};
}

// From the keys' beginning, in pieces that grow: most keys differ soon, some only after mebibytes.
int record_layout::compare_keys(entry a, entry b, bool whole_line, source_view& input,
                                std::uint64_t equal) const {
  const extent x = key_extent(a, whole_line, input);
  const extent y = key_extent(b, whole_line, input);
  const std::uint64_t common = std::min(x.bytes, y.bytes);
  std::byte small[kFirstPiece];
  std::vector<std::byte> large;
  int order = 0;
  for (std::uint64_t at = equal; at < common && order == 0;) {
    const bool first = at == equal;
    const std::size_t n = std::min(first ? kFirstPiece : kLargePiece, common - at);
    const std::byte* p = input.bytes(x.offset + at, n);
    if (p == nullptr) return 0;
    if (!first && large.size() < n) large.resize(n);
    std::byte* copy = first ? small : large.data();  // the view holds one piece at a time
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
  std::size_t asked = 0;
  for (std::size_t begin = 0; begin < sorted.size();) {
    if (begin - asked >= kAskEntries) {
      if (input.stopped()) return;
      asked = begin;
    }
    std::size_t end = begin + 1;
    const entry key = entries_.key(sorted[begin]);
    while (end < sorted.size() && entries_.key(sorted[end]) == key) ++end;
    if (end - begin > 1 && undecided(sorted[begin])) {
      // A part of 8 (lines) or fewer key bytes may be empty already.
      refine_group({sorted.subspan(begin, end - begin), step(), false, 0}, input);
      if (input.stopped()) return;
      for (std::size_t i = begin; i < end; ++i) {
        sorted[i] = key | entries_.pointer(sorted[i]);
      }
    }
    begin = end;
  }
}

// By a heap: after a failed read comparisons contradict each other, and std::sort would then leave
// its range. What is left of the heap when the sort is stopped is sorted by numbers at hand.
void record_layout::compare_group(const alike& group, source_view& input) const {
  bool stopped = false;
  std::size_t comparisons = 0;
  const auto less = [&](entry a, entry b) {
    if (++comparisons % kAskEntries == 0) stopped = stopped || input.stopped();
    int order = stopped ? 0 : compare_keys(a, b, group.whole_line, input, group.depth);
    if (order == 0 && !stopped && whole_line_last_ && !group.whole_line) {
      order = compare_keys(a, b, true, input);
    }
    return order != 0 ? order < 0 : entries_.pointer(a) < entries_.pointer(b);
  };
  std::partial_sort(group.entries.begin(), group.entries.end(), group.entries.end(), less);
}

/// Bytes that all keys of the group share from its depth on, as far as one piece of them tells.
std::uint64_t record_layout::common_bytes(const alike& group, source_view& input) const {
  const extent first = key_extent(group.entries.front(), group.whole_line, input);
  std::uint64_t common = std::min(kSkipPiece, first.bytes - std::min(first.bytes, group.depth));
  if (common == 0) return 0;
  const std::byte* bytes = input.bytes(first.offset + group.depth, common);
  if (bytes == nullptr) return 0;
  const std::vector<std::byte> piece(bytes, bytes + common);
  for (std::size_t i = 1; i < group.entries.size() && common > 0; ++i) {
    if (i % kAskEntries == 0 && input.stopped()) return 0;
    const extent key = key_extent(group.entries[i], group.whole_line, input);
    common = std::min(common, key.bytes - std::min(key.bytes, group.depth));
    if (common == 0) return 0;
    bytes = input.bytes(key.offset + group.depth, common);
    if (bytes == nullptr) return 0;
    const auto differ = std::mismatch(bytes, bytes + common, piece.begin());
    common = static_cast<std::uint64_t>(differ.first - bytes);
  }
  return common;
}

/// Puts the key bytes at the group's depth in the place of those that are equal. False when the
/// sort is stopped.
bool record_layout::take_parts(const alike& group, source_view& input) const {
  std::size_t asked = 0;
  for (entry& e : group.entries) {
    if (++asked % kAskEntries == 0 && input.stopped()) return false;
    e = key_part(e, group.depth, group.whole_line, input).key | entries_.pointer(e);
  }
  return !input.stopped();
}

/// The entries of a group lie in the order of the input. Where they lie close, as lines that all
/// begin alike do, one long read serves many of them; a read costs a page at the least anyway.
std::size_t record_layout::worth_reading_ahead(std::span<const entry> group) const noexcept {
  const auto offset = [&](entry e) {
    return fixed() ? entries_.pointer(e) * record_bytes_ : entries_.pointer(e) >> kLengthBits;
  };
  const std::uint64_t span = offset(group.back()) - offset(group.front());
  return span / group.size() < kPage ? kAheadBytes : 0;
}

// Multikey by parts: what all keys of a group share is skipped, the next bytes take the place of
// those that are equal, the group is sorted as integers again, and so on for groups that are still
// equal. What is equal after a few such splits is sorted by comparing keys: each step finds its
// place in the key anew, which would make keys that each begin with the one before cost the square
// of their length. Leaves the view without reading ahead, as keys in their order lie anywhere.
void record_layout::refine_group(alike group, source_view& input) const {
  if (group.entries.size() == 2 || group.splits == kMostSplits) return compare_group(group, input);
  input.read_ahead(worth_reading_ahead(group.entries));
  if (!fixed_keys() || group.depth + step() < key_bytes_) {
    group.depth += common_bytes(group, input);
  }
  const bool taken = take_parts(group, input);
  input.read_ahead(0);
  if (!taken) return;
  std::sort(group.entries.begin(), group.entries.end());
  std::size_t asked = 0;
  for (std::size_t begin = 0; begin < group.entries.size();) {
    std::size_t end = begin + 1;
    const entry key = entries_.key(group.entries[begin]);
    while (end < group.entries.size() && entries_.key(group.entries[end]) == key) ++end;
    const auto same = group.entries.subspan(begin, end - begin);
    begin = end;
    if (same.size() < 2) continue;
    if (++asked % kAskEntries == 0 && input.stopped()) return;
    if (!key_part(same.front(), group.depth, group.whole_line, input).last) {
      refine_group({same, group.depth + step(), group.whole_line, group.splits + 1}, input);
    } else if (whole_line_last_ && !group.whole_line) {
      refine_group({same, 0, true, group.splits + 1}, input);
    }
  }
}

}  // namespace isotherm::sort
