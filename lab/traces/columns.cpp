#include "lab/traces/columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/numbers.hpp"

namespace isotherm::traces {
namespace {

constexpr std::size_t kMostFields = 64;
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 20, kMostRepeats = 1'000'000'000;
constexpr double kMostTimeUs = 1e18;

// Words of --columns come first; behind them those of CacheLib's, libCacheSim's and other headers.
constexpr auto kWords = std::to_array<std::pair<std::string_view, column>>({
    {"-", column::skipped},
    {"time", column::time},
    {"key", column::key},
    {"key_size", column::key_size},
    {"value_size", column::value_size},
    {"op", column::operation},
    {"repeats", column::repeats},
    {"ttl", column::ttl},
    {"records", column::records},
    {"first", column::first},
    {"blocks", column::blocks},
    {"device", column::device},
    {"offset", column::offset},
    {"length", column::length},
    {"op_time", column::time},
    {"timestamp", column::time},
    {"block_id", column::key},
    {"lbn", column::key},
    {"obj_id", column::key},
    {"id", column::key},
    {"size", column::value_size},
    {"io_size", column::value_size},
    {"obj_size", column::value_size},
    {"op_name", column::operation},
    {"operation", column::operation},
    {"op_count", column::repeats},
});
constexpr std::size_t kOwnWords = 14;

std::optional<column> find_word(std::string_view word,
                                std::span<const std::pair<std::string_view, column>> among) {
  const auto at = std::ranges::find(among, word, [](const auto& each) { return each.first; });
  return at == among.end() ? std::nullopt : std::optional(at->second);
}

bool holds(const std::vector<column>& columns, column wanted) noexcept {
  return std::ranges::find(columns, wanted) != columns.end();
}

bool makes_keys(const std::vector<column>& columns) noexcept {
  return holds(columns, column::key) || holds(columns, column::first) ||
         (holds(columns, column::device) && holds(columns, column::offset));
}

/// Removes the next field from `line`, which a separator or the end closes.
std::string_view take_field(std::string_view& line, char separator) {
  if (separator == ' ') {
    const auto begin = std::min(line.find_first_not_of(" \t"), line.size());
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return field;
  }
  const auto end = std::min(line.find(separator), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

using fields = std::array<std::string_view, kMostFields>;

std::size_t split(std::string_view line, char separator, fields& found) {
  std::size_t count = 0;
  const bool ends_empty = separator != ' ' && line.ends_with(separator);
  while (!line.empty() && count < kMostFields) found[count++] = take_field(line, separator);
  if (ends_empty && count < kMostFields) found[count++] = {};
  return count;
}

base::error wrong(std::string_view name, std::string_view text) {
  return {fmt::format("its {} is not one: '{}'", name, text.substr(0, 40))};
}

template <class Number>
bool read_number(std::string_view text, Number least, Number most, Number& to) {
  const auto number = base::parse_number<Number>(text, least, most);
  if (number) to = *number;
  return number.has_value();
}

/// Sizes, counts and offsets that are read before they become a row.
struct numbers {
  double time = 0;
  std::uint64_t offset = 0, length = 0;
  std::string_view device;
};

/// Reads a field into its place. Returns the field's name where it is malformed, else "".
std::string_view read_field(column meaning, std::string_view text, row& to, numbers& also) {
  constexpr std::uint64_t kAny = ~std::uint64_t{0};
  request& first = to.first;
  switch (meaning) {
    case column::skipped:
      return "";
    case column::time:
      return read_number(text, 0.0, kMostTimeUs, also.time) ? "" : "time";
    case column::key:
      first.key = text;
      return text.empty() ? "key" : "";
    case column::key_size:
      return read_number(text, 0u, kMostValueBytes, first.key_size) ? "" : "size of a key";
    case column::value_size:
      return read_number(text, 0u, kMostValueBytes, first.value_size) ? "" : "size of a value";
    case column::operation: {
      const auto kind = parse_operation(text);
      if (kind) first.kind = *kind;
      return kind ? "" : "operation";
    }
    case column::repeats:
      return read_number(text, std::uint64_t{1}, kMostRepeats, to.repeats) ? "" : "repeats";
    case column::ttl:
      return read_number(text, 0u, ~0u, first.ttl_s) ? "" : "time to live";
    case column::records:
      return read_number(text, 0u, 1'000'000u, first.records) ? "" : "number of records";
    case column::first:
      return read_number(text, std::uint64_t{0}, kAny >> 1, to.number) ? "" : "number of a block";
    case column::blocks:
      return read_number(text, std::uint64_t{1}, kMostBlocks, to.keys) ? "" : "number of blocks";
    case column::device:
      also.device = text;
      return text.empty() ? "device" : "";
    case column::offset:
      return read_number(text, std::uint64_t{0}, kAny >> 1, also.offset) ? "" : "offset";
    case column::length:
      return read_number(text, std::uint64_t{1}, kMostBlocks * kBlockBytes, also.length) ? ""
                                                                                         : "length";
  }
  return "";
}

}  // namespace

bool layout::has(column wanted) const noexcept { return holds(columns, wanted); }

base::result<std::vector<column>> parse_columns(std::string_view words) {
  std::vector<column> found;
  while (!words.empty()) {
    const std::string_view word = take_field(words, ',');
    const auto meaning = find_word(word, std::span(kWords).first(kOwnWords));
    if (!meaning) {
      std::string known;
      for (const auto& each : std::span(kWords).first(kOwnWords)) {
        known += fmt::format("{}{}", known.empty() ? "" : ", ", each.first);
      }
      return std::unexpected(
          base::error{fmt::format("--columns: '{}' is none of {}", word, known)});
    }
    found.push_back(*meaning);
  }
  if (found.size() > kMostFields) {
    return std::unexpected(base::error{fmt::format("--columns: more than {}", kMostFields)});
  }
  if (!makes_keys(found)) {
    return std::unexpected(
        base::error{"--columns needs key, or first and blocks, or device, offset and length"});
  }
  return found;
}

std::optional<std::vector<column>> parse_header(std::string_view line) {
  std::vector<column> found;
  while (!line.empty() && found.size() < kMostFields) {
    found.push_back(find_word(take_field(line, ','), kWords).value_or(column::skipped));
  }
  if (!makes_keys(found)) return std::nullopt;
  return found;
}

base::result<row> parse_row(std::string_view line, const layout& expected) {
  fields found;
  const std::size_t count = split(line, expected.separator, found);
  const std::size_t wanted = expected.columns.size();
  if (count < wanted || (expected.is_exact && count > wanted)) {
    return std::unexpected(base::error{fmt::format("it has {} fields, not {}", count, wanted)});
  }
  row made;
  numbers also;
  for (std::size_t i = 0; i < wanted; ++i) {
    const auto problem = read_field(expected.columns[i], found[i], made, also);
    if (!problem.empty()) return std::unexpected(wrong(problem, found[i]));
  }
  const double time_us = also.time * expected.time_unit_us;
  if (!(time_us <= kMostTimeUs)) return std::unexpected(base::error{"its time is too late"});
  made.first.time_us = static_cast<std::uint64_t>(std::llround(time_us));
  if (expected.has(column::first) && made.keys == 0) made.keys = 1;
  if (!also.device.empty()) {
    made.prefix = also.device;
    made.number = also.offset / kBlockBytes;
    made.keys =
        (also.offset + std::max<std::uint64_t>(also.length, 1) - 1) / kBlockBytes - made.number + 1;
    made.first.value_size = kBlockBytes;
  }
  return made;
}

}  // namespace isotherm::traces
