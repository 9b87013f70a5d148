#include "sort/coding/codec.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace isotherm::sort {
namespace {

constexpr unsigned kPlaceBits = 40;  // of a pointer: the place; the length of klv records and lines
                                     // lies below

struct header {
  std::uint32_t checksum;  // of all that follows
  std::uint16_t entries;
  std::uint8_t key_bits;
  std::uint8_t place_bits;
  std::uint8_t length_bits;
  std::uint8_t zero[3];
  std::uint32_t least_length;
  std::uint64_t least_place;
  std::uint64_t first_key[2];
};
static_assert(sizeof(header) == kBlockHeaderBytes);

unsigned length_bits_of(const entry_layout& l) { return l.pointer_bits() - kPlaceBits; }
/// Number of bits below the key bytes in use.
unsigned key_shift(const entry_layout& l) {
  return l.pointer_bits() + 8 * (l.key_bytes - l.used_key_bytes);
}
std::uint64_t low_bits(unsigned n) { return n == 64 ? ~std::uint64_t{0} : (1ULL << n) - 1; }

unsigned width(entry v) {
  const auto high = static_cast<std::uint64_t>(v >> 64);
  return static_cast<unsigned>(high != 0 ? 64 + std::bit_width(high)
                                         : std::bit_width(static_cast<std::uint64_t>(v)));
}

std::uint32_t checksum_of(const std::byte* block, std::size_t bytes) {
  return static_cast<std::uint32_t>(XXH3_64bits(block + 4, bytes - 4));
}

class bit_writer {
 public:
  explicit bit_writer(std::byte* target) : at_(target) {}
  void put(std::uint64_t v, unsigned bits) noexcept {
    held_ |= entry{v} << filled_;
    filled_ += bits;
    if (filled_ < 64) return;
    const auto word = static_cast<std::uint64_t>(held_);
    std::memcpy(at_, &word, sizeof word);
    at_ += sizeof word;
    held_ >>= 64;
    filled_ -= 64;
  }
  void finish() noexcept {
    const auto word = static_cast<std::uint64_t>(held_);
    std::memcpy(at_, &word, sizeof word);
  }

 private:
  std::byte* at_;
  entry held_ = 0;
  unsigned filled_ = 0;  // bits of held_, fewer than 64 between calls
};

class bit_reader {
 public:
  explicit bit_reader(const std::byte* source) : source_(source) {}
  std::uint64_t get(unsigned bits) noexcept {
    entry v;
    std::memcpy(&v, source_ + at_ / 8, sizeof v);
    v >>= at_ % 8;
    at_ += bits;
    return static_cast<std::uint64_t>(v) & low_bits(bits);
  }

 private:
  const std::byte* source_;
  std::size_t at_ = 0;  // in bits
};

}  // namespace

block_shape shape_of(const entry_layout& l, std::span<const entry> sorted) noexcept {
  block_shape s;
  if (sorted.empty()) return s;
  const unsigned shift = key_shift(l);
  const unsigned lengths = length_bits_of(l);
  entry all_differences = 0;
  std::uint64_t places[2] = {~std::uint64_t{0}, 0};
  std::uint64_t sizes[2] = {~std::uint64_t{0}, 0};
  entry before = sorted.front() >> shift;
  for (const entry e : sorted) {
    all_differences |= (e >> shift) - before;
    before = e >> shift;
    const std::uint64_t place = l.pointer(e) >> lengths;
    const std::uint64_t size = l.pointer(e) & low_bits(lengths);
    places[0] = std::min(places[0], place);
    places[1] = std::max(places[1], place);
    sizes[0] = std::min(sizes[0], size);
    sizes[1] = std::max(sizes[1], size);
  }
  s.key_bits = width(all_differences);
  s.place_bits = width(places[1] - places[0]);
  s.length_bits = width(sizes[1] - sizes[0]);
  s.least_place = places[0];
  s.least_length = sizes[0];
  return s;
}

std::size_t encode_block(const entry_layout& l, std::span<const entry> sorted,
                         std::byte* target) noexcept {
  const block_shape s = shape_of(l, sorted);
  const unsigned shift = key_shift(l);
  const unsigned lengths = length_bits_of(l);
  entry before = sorted.front() >> shift;
  const header h{
      .checksum = 0,
      .entries = static_cast<std::uint16_t>(sorted.size()),
      .key_bits = static_cast<std::uint8_t>(s.key_bits),
      .place_bits = static_cast<std::uint8_t>(s.place_bits),
      .length_bits = static_cast<std::uint8_t>(s.length_bits),
      .zero = {},
      .least_length = static_cast<std::uint32_t>(s.least_length),
      .least_place = s.least_place,
      .first_key = {static_cast<std::uint64_t>(before), static_cast<std::uint64_t>(before >> 64)}};
  std::memcpy(target, &h, sizeof h);
  const unsigned low = std::min(s.key_bits, 64U);
  bit_writer out(target + sizeof h);
  for (const entry e : sorted) {
    const entry difference = (e >> shift) - before;
    before = e >> shift;
    out.put(static_cast<std::uint64_t>(difference), low);
    if (s.key_bits > low) out.put(static_cast<std::uint64_t>(difference >> 64), s.key_bits - low);
    const std::uint64_t pointer = l.pointer(e);
    const std::uint64_t place = (pointer >> lengths) - s.least_place;
    const std::uint64_t size = (pointer & low_bits(lengths)) - s.least_length;
    out.put(place << s.length_bits | size, s.place_bits + s.length_bits);
  }
  out.finish();
  const std::size_t bytes = s.bytes(sorted.size());
  const std::uint32_t sum = checksum_of(target, bytes);
  std::memcpy(target, &sum, sizeof sum);
  return bytes;
}

std::optional<std::size_t> block_length(
    const entry_layout& l, std::span<const std::byte, kBlockHeaderBytes> head) noexcept {
  header h;
  std::memcpy(&h, head.data(), sizeof h);
  const bool good = h.entries > 0 && h.entries <= kBlockEntries &&
                    h.key_bits <= 8 * l.used_key_bytes && h.place_bits <= kPlaceBits &&
                    h.length_bits <= length_bits_of(l);
  if (!good) return std::nullopt;
  return block_shape{h.key_bits, h.place_bits, h.length_bits}.bytes(h.entries);
}

std::size_t decode_block(const entry_layout& l, std::span<const std::byte> bytes,
                         entry* target) noexcept {
  if (bytes.size() < kBlockHeaderBytes) return 0;
  const auto length = block_length(l, bytes.first<kBlockHeaderBytes>());
  if (length != bytes.size()) return 0;
  header h;
  std::memcpy(&h, bytes.data(), sizeof h);
  if (h.checksum != checksum_of(bytes.data(), bytes.size())) return 0;
  const unsigned shift = key_shift(l);
  const unsigned lengths = length_bits_of(l);
  const unsigned low = std::min<unsigned>(h.key_bits, 64);
  const unsigned high = h.key_bits - low;
  entry key = entry{h.first_key[1]} << 64 | h.first_key[0];
  bit_reader in(bytes.data() + sizeof h);
  for (std::size_t i = 0; i < h.entries; ++i) {
    key += in.get(low);
    if (high > 0) key += entry{in.get(high)} << 64;
    const std::uint64_t both = in.get(static_cast<unsigned>(h.place_bits + h.length_bits));
    const std::uint64_t place = (both >> h.length_bits) + h.least_place;
    const std::uint64_t size = (both & low_bits(h.length_bits)) + h.least_length;
    target[i] = key << shift | (place << lengths | size);
  }
  return h.entries;
}

}  // namespace isotherm::sort
