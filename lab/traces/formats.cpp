#include "lab/traces/formats.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "lab/traces/binary_source.hpp"

namespace isotherm::traces {
namespace {

using enum kind_of_format;

// Formats of fixed columns are tried in this order: the more a line must have, the earlier.
constexpr auto kFormats = std::to_array<format>({
    {.name = "csv",
     .about = "a header line names the columns, or --columns does: time (seconds), key, key_size, "
              "value_size, op, ttl, records, repeats; - skips one",
     .kind = header},
    {.name = "cachelib",
     .about = "CacheLib's kv_traces and block_traces: CSV with a header; op_count repeats a line",
     .kind = header},
    {.name = "libcachesim", .about = "libCacheSim's CSV with a header", .kind = header},
    {.name = "twitter",
     .about = "Twitter's cache-trace: time,key,key size,value size,client,operation,ttl",
     .kind = lines,
     .columns = "time,key,key_size,value_size,-,op,ttl"},
    {.name = "alibaba",
     .about = "Alibaba's block traces: device,R or W,offset,length,microseconds; a request for "
              "each block of 4 KiB",
     .kind = lines,
     .columns = "device,op,offset,length,time",
     .time_unit_us = 1},
    {.name = "arc",
     .about = "text of the ARC paper: first block, number of blocks, 0, number of the request",
     .kind = lines,
     .columns = "first,blocks,-,-",
     .separator = ' '},
    {.name = "adapt-size",
     .about = "text of AdaptSize: time, key, size",
     .kind = lines,
     .columns = "time,key,value_size",
     .separator = ' '},
    {.name = "lines", .about = "a key a line", .kind = lines, .columns = "key", .separator = ' '},
    {.name = "oracle-general",
     .about = "libCacheSim's binary oracleGeneral: records of 24 bytes",
     .kind = oracle},
    {.name = "int32-be",
     .about = "binary keys of 4 bytes, big-endian",
     .kind = numbers,
     .bytes = 4,
     .is_big_endian = true},
    {.name = "int32-le", .about = "the same, little-endian", .kind = numbers, .bytes = 4},
    {.name = "int64-be",
     .about = "binary keys of 8 bytes, big-endian",
     .kind = numbers,
     .bytes = 8,
     .is_big_endian = true},
    {.name = "int64-le", .about = "the same, little-endian", .kind = numbers, .bytes = 8},
});

constexpr std::size_t kLinesTried = 32;

/// Whether text holds no control characters but those that end and divide lines.
bool is_text(std::string_view beginning) noexcept {
  return std::ranges::none_of(beginning, [](char c) {
    return (c >= 0 && c < ' ' && c != '\n' && c != '\r' && c != '\t') || c == 0x7f;
  });
}

/// Calls `each` with the first complete lines.
template <class Each>
void for_first_lines(std::string_view beginning, const Each& each) {
  const bool has_feeds = beginning.contains('\n');
  for (std::size_t i = 0; i < kLinesTried && !beginning.empty(); ++i) {
    const auto end = beginning.find('\n');
    if (end == std::string_view::npos && has_feeds) return;  // perhaps cut off
    std::string_view line = beginning.substr(0, end);
    beginning.remove_prefix(end == std::string_view::npos ? beginning.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) each(line);
  }
}

bool fits(const format& fixed, std::string_view beginning) {
  const layout expected = layout_of(fixed);
  std::size_t good = 0, all = 0;
  for_first_lines(beginning, [&](std::string_view line) {
    ++all;
    good += parse_row(line, expected).has_value();
  });
  return good > 0 && 2 * good >= all;
}

const format* guess_header(std::string_view line) noexcept {
  if (!parse_header(line)) return nullptr;
  if (line.contains("op_time")) return find_format("cachelib");
  return find_format(line.contains("lbn") ? "libcachesim" : "csv");
}

}  // namespace

std::span<const format> formats() noexcept { return kFormats; }

const format* find_format(std::string_view name) noexcept {
  const auto at = std::ranges::find(kFormats, name, &format::name);
  return at == kFormats.end() ? nullptr : &*at;
}

layout layout_of(const format& fixed) {
  return {.columns = parse_columns(fixed.columns).value(),
          .separator = fixed.separator,
          .time_unit_us = fixed.time_unit_us,
          .is_exact = true};
}

const format* guess_format(std::string_view beginning) noexcept {
  if (!is_text(beginning)) {
    return looks_like_oracle(beginning) ? find_format("oracle-general") : nullptr;
  }
  std::string_view first = beginning.substr(0, beginning.find('\n'));
  if (first.ends_with('\r')) first.remove_suffix(1);
  if (const format* named = guess_header(first)) return named;
  for (const format& each : kFormats) {
    if (each.kind == lines && fits(each, beginning)) return &each;
  }
  return nullptr;
}

}  // namespace isotherm::traces
