// The records of a block, one after the other.
#pragma once

#include <cstdint>

#include "sort/keys/record_ends.hpp"
#include "sort/scan/record_blocks.hpp"
#include "sort/scan/record_in_memory.hpp"

namespace isotherm::sort {

template <class See>
std::uint64_t each_fixed(const context& ctx, const record_blocks::block& b, const See& see) {
  const std::uint64_t record = ctx.layout.record_bytes();
  const std::uint64_t first = b.offset / record;
  const std::uint64_t records = b.bytes.size() / record;
  record_in_memory r{.bytes = static_cast<std::uint32_t>(record),
                     .key_bytes = static_cast<std::uint32_t>(ctx.layout.key_bytes())};
  for (std::uint64_t i = 0; i < records; ++i) {
    r.first = b.bytes.data() + i * record;
    r.key_first = r.first + ctx.layout.key_offset();
    r.place = ctx.layout.fixed_entry(r.key_first, first + i);
    see(r);
  }
  return records;
}

/// Returns the line at the front of `rest`, without its end.
inline bytes_view line_at(bytes_view rest, record_ends& ends) {
  const std::size_t n = ends.find(rest);
  return rest.first((n != 0 ? n : rest.size()) - 1);  // 0: the input has changed
}

template <class See>
std::uint64_t each_line(const context& ctx, const record_blocks::block& b, const See& see) {
  const key_order& order = ctx.layout.order();
  record_ends ends(ctx.job.options);
  const std::byte* const end = b.bytes.data() + b.bytes.size();
  std::uint64_t records = 0;
  made_key made;
  record_in_memory r;
  for (const std::byte* at = b.bytes.data(); at < end; at += r.bytes, ++records) {
    const bytes_view line = line_at({at, end}, ends);
    const part key = order.made() ? part{} : order.find(line);
    if (order.made()) order.make(line, made);
    r.first = at;
    r.bytes = static_cast<std::uint32_t>(line.size() + 1);
    r.key_first = order.made() ? made.data() : at + key.begin;
    r.key_bytes = static_cast<std::uint32_t>(order.made() ? made.size() : key.end - key.begin);
    const auto offset = b.offset + static_cast<std::uint64_t>(at - b.bytes.data());
    r.place = ctx.layout.line_entry(r.key_first, r.key_bytes, offset, r.bytes);
    see(r);
  }
  return records;
}

template <class See>
std::uint64_t each_klv(const context& ctx, const record_blocks::block& b, const See& see) {
  const std::uint64_t key = ctx.layout.key_bytes();
  std::uint64_t records = 0;
  record_in_memory r{.key_bytes = static_cast<std::uint32_t>(key)};
  for (std::uint64_t at = 0; at < b.bytes.size(); at += r.bytes, ++records) {
    r.first = r.key_first = &b.bytes[at];
    r.bytes = static_cast<std::uint32_t>(key + sizeof(std::uint32_t)) + klv_length(r.first + key);
    r.place = ctx.layout.variable_entry(r.first, b.offset + at, r.bytes);
    see(r);
  }
  return records;
}

/// Calls `see` with each record of the block, in the order of the input; a key that is made is
/// valid until `see` returns. Returns the number of records.
template <class See>
std::uint64_t each_record(const context& ctx, const record_blocks::block& b, const See& see) {
  switch (ctx.job.options.format) {
    case record_format::lines:
      return each_line(ctx, b, see);
    case record_format::klv:
      return each_klv(ctx, b, see);
    case record_format::fixed:
      break;
  }
  return each_fixed(ctx, b, see);
}

}  // namespace isotherm::sort
