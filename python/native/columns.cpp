// Rows are ordered by byte strings that are made of their columns and compare as these do. The
// strings are records of one size if no column is of text; a record's number is the row's.
// Otherwise they are lines, which end in a zero byte and have the row's number in front of it.
#include "columns.hpp"

#include <isotherm/index_map.hpp>

#include <algorithm>
#include <cstring>

#include "numbers.hpp"
#include "os/limits/processors.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"

namespace isotherm::python {
namespace {

// Zero ends a text, and a line. A zero or a one inside a text is written as two characters.
constexpr std::byte kEnd{0};
constexpr std::byte kEscape{1};

constexpr std::uint64_t kRowDigits = 5;
constexpr std::uint64_t kRowBase = 254;  // digits are neither kEnd nor kEscape

bool is_valid(const column& c, std::uint64_t row) noexcept {
  const std::uint64_t bit = c.validity_offset + row;
  return c.validity == nullptr ||
         ((static_cast<unsigned>(c.validity[bit / 8]) >> (bit % 8)) & 1) != 0;
}

/// Bytes of a value in the key, with the byte that tells rows without one.
std::uint64_t key_bytes(const column& c) noexcept { return c.width + (c.validity ? 1 : 0); }

template <class Bits>
Bits turned(Bits value) noexcept {
  if constexpr (sizeof(Bits) == 1) return value;
  if constexpr (sizeof(Bits) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(Bits) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(Bits) == 8) return __builtin_bswap64(value);
}

template <class Bits>
void put_number(const column& c, const std::byte* value, std::byte* to) noexcept {
  Bits bits;
  std::memcpy(&bits, value, sizeof bits);
  bool last = false;
  if (c.kind == storage::real) {
    const auto magnitude = static_cast<Bits>(bits & ~kSign<Bits>);
    if (magnitude == 0) bits = 0;
    last = magnitude > infinity<Bits>();
  } else if (c.kind == storage::time) {
    last = bits == kSign<Bits>;
  }
  Bits order = ordered(static_cast<number>(c.kind), bits);
  if (c.descending) order = static_cast<Bits>(~order);
  if (last) order = std::numeric_limits<Bits>::max();
  order = turned(order);
  std::memcpy(to, &order, sizeof order);
}

void put_bytes(const column& c, const std::byte* value, std::byte* to) noexcept {
  const std::byte flip = c.descending ? std::byte{0xff} : std::byte{0};
  if (c.kind == storage::bytes) {
    for (unsigned i = 0; i < c.width; ++i) to[i] = value[i] ^ flip;
    return;
  }
  for (unsigned i = 0; i < c.width; ++i) to[i] = value[c.width - 1 - i] ^ flip;
  to[0] ^= std::byte{0x80};
}

void put_value(const column& c, const std::byte* value, std::byte* to) noexcept {
  if (c.kind >= storage::decimal) return put_bytes(c, value, to);
  switch (c.width) {
    case 1:
      return put_number<std::uint8_t>(c, value, to);
    case 2:
      return put_number<std::uint16_t>(c, value, to);
    case 4:
      return put_number<std::uint32_t>(c, value, to);
    default:
      return put_number<std::uint64_t>(c, value, to);
  }
}

/// Puts the key bytes of a row's value of one size at `to`.
void put(const column& c, std::uint64_t row, std::byte* to) noexcept {
  const bool valid = is_valid(c, row);
  if (c.validity != nullptr) *to++ = valid ? std::byte{0} : std::byte{1};
  if (valid) {
    put_value(c, c.values + row * c.stride, to);
  } else {
    std::memset(to, 0, c.width);
  }
}

template <class Size>
std::span<const std::byte> text_between(const std::byte* offsets, const std::byte* values) {
  Size at[2];
  std::memcpy(at, offsets, sizeof at);
  return {values + at[0], static_cast<std::size_t>(at[1] - at[0])};
}

std::span<const std::byte> text_of(const column& c, std::uint64_t row) {
  const std::byte* offsets = c.offsets + row * c.stride;
  return c.width == sizeof(std::uint32_t) ? text_between<std::uint32_t>(offsets, c.values)
                                          : text_between<std::uint64_t>(offsets, c.values);
}

using key_text = std::vector<std::byte>;

// Most texts have neither zero nor one: these are copied, a block at a time.
void append_escaped(key_text& key, std::span<const std::byte> text) {
  constexpr std::size_t kBlock = 32;
  for (; !text.empty(); text = text.subspan(std::min(kBlock, text.size()))) {
    const auto block = text.first(std::min(kBlock, text.size()));
    bool plain = true;
    for (const std::byte b : block) plain &= b > kEscape;
    if (plain) {
      key.insert(key.end(), block.begin(), block.end());
      continue;
    }
    for (const std::byte b : block) {
      if (b <= kEscape) key.push_back(kEscape);
      key.push_back(b > kEscape ? b : std::byte(static_cast<unsigned char>(b) + 1));
    }
  }
}

/// Appends the key bytes of any value.
void append(key_text& key, const column& c, std::uint64_t row) {
  const std::size_t begin = key.size();
  if (c.kind != storage::text) {
    key.resize(begin + key_bytes(c));
    return put(c, row, &key[begin]);
  }
  const bool valid = is_valid(c, row);
  if (c.validity != nullptr) key.push_back(valid ? std::byte{0} : std::byte{1});
  if (!valid) return;
  const std::size_t text = key.size();
  append_escaped(key, text_of(c, row));
  key.push_back(kEnd);
  if (c.descending) {
    for (std::size_t i = text; i < key.size(); ++i) key[i] = ~key[i];
  }
}

void append_line(key_text& lines, std::span<const std::byte> key, std::uint64_t row) {
  append_escaped(lines, key);
  std::byte digits[kRowDigits];
  for (std::byte& digit : std::span(digits)) {
    digit = std::byte(static_cast<unsigned char>(2 + row % kRowBase));
    row /= kRowBase;
  }
  lines.insert(lines.end(), std::rbegin(digits), std::rend(digits));
  lines.push_back(kEnd);
}

/// The row's number in front of the end of a line.
std::uint64_t row_before(const std::byte* end) noexcept {
  std::uint64_t row = 0;
  for (const std::byte* digit = end - kRowDigits; digit != end; ++digit) {
    row = row * kRowBase + static_cast<unsigned>(*digit) - 2;
  }
  return row;
}

/// Refuses keys that do not fit in the memory that the options name.
base::result<void> check_room(const sort_options& o, std::size_t key_bytes, std::size_t rows) {
  constexpr std::size_t kEntry = 16;  // of the index map
  if (o.memory_bytes == 0 || key_bytes + kEntry * rows <= o.memory_bytes) return {};
  return std::unexpected(base::error{
      "the keys of the table do not fit in memory=: give more, or use sort_table()", 0});
}

/// Sorts `keys` and calls `number` with the place of each, in order, and where to put its row.
template <class Number>
base::result<void> order_keys(std::span<const std::byte> keys, const sort_options& options,
                              std::span<std::uint64_t> order, const Number& number) {
  constexpr std::size_t kAtOnce = 4096;
  auto map = index_map::over(keys, options);
  if (!map) return std::unexpected(map.error());
  if (auto r = map->sort(); !r) return r;
  std::vector<index_map::place> places(kAtOnce);
  for (std::size_t at = 0; at < order.size(); at += kAtOnce) {
    const std::size_t n = std::min(kAtOnce, order.size() - at);
    if (auto r = map->locate(at, std::span(places).first(n)); !r) return r;
    for (std::size_t i = 0; i < n; ++i) number(places[i], order[at + i]);
  }
  return {};
}

base::result<void> order_by_records(const std::vector<column>& columns, sort_options o,
                                    std::span<std::uint64_t> order) {
  constexpr std::uint64_t kBlock = 2048;  // rows, so that a block of keys stays in the cache
  std::uint64_t record = 0;
  for (const column& c : columns) record += key_bytes(c);
  if (auto r = check_room(o, order.size() * record, order.size()); !r) return r;
  auto keys = os::buffer::reserve(std::max<std::uint64_t>(1, order.size() * record));
  if (!keys) return std::unexpected(keys.error());
  const unsigned threads = os::available_processors();
  os::run_pool(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(order.size(), threads, t);
    for (std::uint64_t block = begin; block < end; block += kBlock) {
      std::uint64_t at = 0;
      for (const column& c : columns) {
        for (std::uint64_t row = block; row < std::min(end, block + kBlock); ++row) {
          put(c, row, keys->data() + row * record + at);
        }
        at += key_bytes(c);
      }
    }
  });
  o.format = record_format::fixed;
  o.record_bytes = o.key_bytes = record;
  return order_keys(
      {keys->data(), order.size() * record}, o, order,
      [&](const index_map::place& p, std::uint64_t& row) { row = p.offset / record; });
}

base::result<void> order_by_lines(const std::vector<column>& columns, sort_options o,
                                  std::span<std::uint64_t> order) {
  const unsigned threads = os::available_processors();
  std::vector<key_text> parts(threads);
  os::run_pool(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(order.size(), threads, t);
    key_text key;
    for (std::uint64_t row = begin; row < end; ++row) {
      key.clear();
      for (const column& c : columns) append(key, c, row);
      append_line(parts[t], key, row);
    }
  });
  std::size_t bytes = 0;
  for (const key_text& each : parts) bytes += each.size();
  if (auto r = check_room(o, bytes, order.size()); !r) return r;
  auto lines = os::buffer::reserve(std::max<std::size_t>(1, bytes));
  if (!lines) return std::unexpected(lines.error());
  std::byte* at = lines->data();
  for (key_text& each : parts) {
    if (!each.empty()) std::memcpy(at, each.data(), each.size());
    at += each.size();
    key_text().swap(each);
  }
  o.format = record_format::lines;
  o.line_end = static_cast<char>(kEnd);
  return order_keys({lines->data(), bytes}, o, order,
                    [&](const index_map::place& p, std::uint64_t& row) {
                      row = row_before(lines->data() + p.offset + p.bytes - 1);
                    });
}

}  // namespace

base::result<void> order_rows(const std::vector<column>& columns, const sort_options& options,
                              std::span<std::uint64_t> order) {
  const bool sized =
      std::ranges::all_of(columns, [](const column& c) { return c.kind != storage::text; });
  return sized ? order_by_records(columns, options, order)
               : order_by_lines(columns, options, order);
}

}  // namespace isotherm::python
