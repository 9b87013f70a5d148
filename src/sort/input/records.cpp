#include "sort/input/records.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sort/keys/record_ends.hpp"

namespace isotherm::sort {
namespace {

constexpr unsigned kFixedKeyRoom = 11;
constexpr unsigned kVariableKeyRoom = 8;
constexpr std::uint64_t kFirstPiece = 256;
constexpr std::uint64_t kLargePiece = 64 << 10;

/// A line without its end.
extent text_of(const extent& line) { return {line.offset, line.bytes == 0 ? 0 : line.bytes - 1}; }

/// The pointer of a klv record or line: its offset, and its length up to kLongRecord.
std::uint64_t pointer_to(std::uint64_t offset, std::uint64_t bytes) {
  return (offset << kLengthBits) | std::min(bytes, kLongRecord);
}

}  // namespace

record_layout::record_layout(const sort_options& o)
    : format_(o.format),
      record_bytes_(o.record_bytes),
      key_bytes_(o.key_bytes),
      key_offset_(o.format == record_format::fixed ? o.key_offset : 0),
      order_(o),
      line_end_(o.line_end),
      count_end_(o.csv ? static_cast<char>(delimiter_of(o)) : '\t'),
      whole_line_last_(o.format == record_format::lines && !order_.whole_line() && !o.stable &&
                       !o.unique && !o.count) {
  entries_.key_bytes = fixed() ? kFixedKeyRoom : kVariableKeyRoom;
  entries_.used_key_bytes = entries_.key_bytes;
  if (format_ != record_format::lines && key_bytes_ < entries_.key_bytes) {
    entries_.used_key_bytes = static_cast<unsigned>(key_bytes_);
  }
  entries_.reverse = o.reverse;
  if (o.number) number_.emplace(*o.number);
}

int record_layout::compare_fixed(const std::byte* a, const std::byte* b) const noexcept {
  if (number_) {
    const entry x = fixed_entry(a, 0);
    const entry y = fixed_entry(b, 0);
    return x < y ? -1 : x > y;
  }
  const int order = std::memcmp(a, b, key_bytes_);
  return entries_.reverse ? -order : order;
}

void record_layout::put_in_order(std::span<std::byte> key) const noexcept {
  if (number_) {
    const entry ordered = byteswap128(fixed_entry(key.data(), 0));
    std::memcpy(key.data(), &ordered, key.size());
  } else if (entries_.reverse) {
    for (std::byte& b : key) b = ~b;
  }
}

entry record_layout::variable_entry(const std::byte* record, std::uint64_t offset,
                                    std::uint64_t bytes) const {
  if (format_ == record_format::klv) {
    return entries_.make(load_key(record, entries_.used_key_bytes), pointer_to(offset, bytes));
  }
  const bytes_view line(record, bytes - 1);  // without its end
  if (!order_.made()) {
    const part key = order_.find(line);
    return line_entry(record + key.begin, key.end - key.begin, offset, bytes);
  }
  static thread_local made_key room;
  order_.make(line, room, kVariableKeyRoom);
  return line_entry(room.data(), room.size(), offset, bytes);
}

// The key part of a line's entry is the first seven bytes of its key and a byte that counts the
// key's bytes, up to eight. A key that is a prefix of another therefore comes first, and entries of
// keys of at most seven bytes decide the order alone.
entry record_layout::line_entry(const std::byte* key, std::uint64_t key_bytes, std::uint64_t offset,
                                std::uint64_t bytes) const {
  const std::size_t held = std::min<std::uint64_t>(key_bytes, kVariableKeyRoom);
  entry e = load_key(key, std::min<std::size_t>(held, kVariableKeyRoom - 1));
  e |= entry{held} << entries_.pointer_bits();
  return entries_.make(e, pointer_to(offset, bytes));
}

bool record_layout::undecided(entry e) const noexcept {
  if (format_ != record_format::lines) return key_bytes_ > entries_.key_bytes;
  if (whole_line_last_) return true;
  const entry key = entries_.reverse ? ~e : e;
  return static_cast<unsigned char>(key >> entries_.pointer_bits()) == kVariableKeyRoom;
}

std::optional<record_layout::short_key> record_layout::whole_key(entry e) const noexcept {
  if (undecided(e) || order_.made()) return std::nullopt;
  const entry plain = key_in_record(e);
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

record_key record_layout::key(entry e, compared by, source_view& input, unsigned which) const {
  const extent record = locate(e, input);
  if (format_ != record_format::lines) {
    return record_key(extent{record.offset + key_offset_, key_bytes_});
  }
  if (by == compared::key) return line_key(record, input, which);
  return record_key(text_of(record));
}

record_key record_layout::line_key(const extent& line, source_view& input, unsigned which) const {
  constexpr std::uint64_t kStep = 65536;
  const extent text = text_of(line);
  if (!order_.made()) {
    const part key = order_.find(text.bytes, [&](std::uint64_t offset, std::uint64_t most) {
      const std::size_t n = std::min(kStep, most);
      const std::byte* bytes = input.bytes(text.offset + offset, n);
      return bytes == nullptr ? bytes_view() : bytes_view(bytes, n);
    });
    return record_key(extent{text.offset + key.begin, key.end - key.begin});
  }
  made_key& made = input.room(which);
  made.clear();
  const std::byte* bytes = input.bytes(text.offset, text.bytes);
  if (bytes != nullptr) order_.make({bytes, text.bytes}, made);
  return record_key(made);
}

record_key record_layout::key_text(entry e, source_view& input) const {
  if (format_ != record_format::lines || !order_.made()) return key(e, compared::key, input);
  const extent text = text_of(locate(e, input));
  const std::byte* bytes = input.bytes(text.offset, text.bytes);
  if (bytes == nullptr) return record_key(bytes_view());
  input.room(0) = order_.text({bytes, text.bytes});
  return record_key(input.room(0));
}

// Compares in pieces, a small one first: most keys differ early, some only after mebibytes.
int record_layout::compare_keys(entry a, entry b, compared by, source_view& input,
                                std::uint64_t equal) const {
  const record_key x = key(a, by, input, 0);
  const record_key y = key(b, by, input, 1);
  const std::uint64_t common = std::min(x.size(), y.size());
  std::byte small[kFirstPiece];
  std::vector<std::byte> large;
  int order = 0;
  const std::byte* whole_x = x.at_hand(input);
  const std::byte* whole_y = y.at_hand(input);
  const bool at_hand = whole_x != nullptr && whole_y != nullptr;
  if (at_hand && equal < common)
    order = std::memcmp(whole_x + equal, whole_y + equal, common - equal);
  for (std::uint64_t at = at_hand ? common : equal; at < common && order == 0;) {
    const bool first = at == equal;
    const std::size_t n = std::min(first ? kFirstPiece : kLargePiece, common - at);
    const std::byte* p = x.bytes(input, at, n);
    if (p == nullptr) return 0;
    if (!first && large.size() < n) large.resize(n);
    std::byte* copy = first ? small : large.data();  // the view holds one piece at a time
    std::memcpy(copy, p, n);
    const std::byte* q = y.bytes(input, at, n);
    if (q == nullptr) return 0;
    order = std::memcmp(copy, q, n);
    at += n;
  }
  if (order == 0) order = x.size() < y.size() ? -1 : x.size() > y.size();
  return entries_.reverse ? -order : order;
}

int record_layout::compare(entry a, entry b, source_view& input) const {
  if (entries_.key(a) != entries_.key(b) || !undecided(a)) return a < b ? -1 : a > b;
  int order = compare_keys(a, b, compared::key, input);
  if (order == 0 && whole_line_last_) order = compare_keys(a, b, compared::line, input);
  if (order != 0) return order;
  return a < b ? -1 : a > b;
}

bool record_layout::same_key(entry a, entry b, source_view& input) const {
  if (entries_.key(a) != entries_.key(b)) return false;
  return !undecided(a) || compare_keys(a, b, compared::key, input) == 0;
}

base::result<std::uint64_t> estimate_records(const source& in, const sort_options& o) {
  if (o.format == record_format::fixed) return in.size() / o.record_bytes;
  constexpr std::size_t kSampleBytes = 1 << 20;
  constexpr std::uint64_t kLengthField = 4;  // klv
  std::vector<std::byte> sample(std::min<std::uint64_t>(kSampleBytes, in.size()));
  if (sample.empty()) return 0;
  if (auto r = in.handle().read(sample, 0); !r) return std::unexpected(r.error());
  std::uint64_t seen = 0;
  std::uint64_t bytes = 0;  // of the records seen; the last may end beyond the sample
  if (o.format == record_format::lines) {
    record_ends ends(o);
    bytes = sample.size();
    for (bytes_view rest = sample; const std::size_t n = ends.find(rest); ++seen) {
      rest = rest.subspan(n);
    }
  } else {
    const std::uint64_t header = o.key_bytes + kLengthField;
    for (; bytes + header <= sample.size(); ++seen) {
      std::uint32_t value = 0;
      std::memcpy(&value, &sample[bytes + o.key_bytes], kLengthField);
      bytes += header + value;
    }
  }
  if (seen == 0) return 1;
  return in.size() / (std::max<std::uint64_t>(1, bytes / seen));
}

}  // namespace isotherm::sort
