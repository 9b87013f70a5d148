// Commands on parts of a value: STRLEN, APPEND, GETRANGE, SETRANGE.
#include <algorithm>
#include <cstring>

#include "store/commands/command.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

void strlen_command(call& c) {
  const auto looked = c.find(c[1], lookup::read);
  if (!looked) return c.fail(looked.error());
  const std::optional<record>& found = *looked;
  c.out.integer(found ? static_cast<std::int64_t>(found->payload.size()) : 0);
}

void append(call& c) {
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  if (!old) {
    if (put_or_refuse(c, c[1], {.payload = c[2]})) {
      c.out.integer(static_cast<std::int64_t>(c[2].size()));
    }
    return;
  }
  if (old->payload.size() + c[2].size() > c.bounds.longest_value) {
    return c.out.error(errors::kTooLong);
  }
  if (!is_done(c, c.db.append(c.in(), c[1], *old, 0, c[2], c.now))) return;
  c.out.integer(static_cast<std::int64_t>(old->payload.size() + c[2].size()));
}

/// The part from `start` to `end`, by Redis' rules for ends that are negative or lie outside.
std::string_view slice(std::string_view text, std::int64_t start, std::int64_t end) {
  const auto length = static_cast<std::int64_t>(text.size());
  if (start < 0 && end < 0 && start > end) return {};
  if (start < 0) start = std::max<std::int64_t>(start + length, 0);
  if (end < 0) end = std::max<std::int64_t>(end + length, 0);
  end = std::min(end, length - 1);
  if (start > end || length == 0) return {};
  return text.substr(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start + 1));
}

void getrange(call& c) {
  const auto start = parse_integer(c[2]), end = parse_integer(c[3]);
  if (!start || !end) return c.out.error(errors::kNotInteger);
  const auto looked = c.find(c[1], lookup::read);
  if (!looked) return c.fail(looked.error());
  const std::optional<record>& found = *looked;
  c.out.bulk(found ? slice(found->payload, *start, *end) : std::string_view());
}

void setrange(call& c) {
  const auto offset = parse_integer(c[2]);
  if (!offset) return c.out.error(errors::kNotInteger);
  if (*offset < 0) return c.out.error("ERR offset is out of range");
  const auto from = static_cast<std::uint64_t>(*offset);
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  const std::string_view content = old ? old->payload : std::string_view();
  if (c[3].empty()) return c.out.integer(static_cast<std::int64_t>(content.size()));
  if (from + c[3].size() > c.bounds.longest_value) return c.out.error(errors::kTooLong);
  const std::size_t end = from + c[3].size();
  if (old && from >= content.size()) {
    if (!is_done(c, c.db.append(c.in(), c[1], *old, from - content.size(), c[3], c.now))) return;
    return c.out.integer(static_cast<std::int64_t>(end));
  }
  // Readers take no lock, so what they may be reading is not changed in place.
  const std::size_t size = std::max(content.size(), end);
  const auto splice = [&](char* to) {
    const std::size_t before = content.copy(to, from);
    std::memset(to + before, 0, from - before);
    std::memcpy(to + from, c[3].data(), c[3].size());
    if (end < size) std::memcpy(to + end, content.data() + end, size - end);
  };
  const record stored{.expires_ms = old ? old->expires_ms : kNever, .how = encoding::raw};
  if (!is_done(c, c.db.put(c.in(), c[1], stored, index::content(size, splice), c.now))) return;
  c.out.integer(static_cast<std::int64_t>(size));
}

constexpr key_positions kOne{1, 1, 1};
constexpr std::string_view kGroup = "string";
constexpr command kCommands[] = {
    {"strlen", 2, kReadOnly | kFast, kOne, strlen_command, kGroup, "2.2.0",
     "Get the length of the value stored in a key"},
    {"append", 3, kWrite | kDenyOom | kFast, kOne, append, kGroup, "2.0.0",
     "Append a value to a key"},
    {"getrange", 4, kReadOnly, kOne, getrange, kGroup, "2.4.0",
     "Get a substring of the string stored at a key"},
    {"substr", 4, kReadOnly, kOne, getrange, kGroup, "1.0.0",
     "Get a substring of the string stored at a key"},
    {"setrange", 4, kWrite | kDenyOom, kOne, setrange, kGroup, "2.2.0",
     "Overwrite part of a string at key starting at the specified offset"},
};

}  // namespace

std::span<const command> range_commands() { return kCommands; }

}  // namespace isotherm::store
