// Numbers kept in strings: INCR, DECR and their relatives.
#include <cmath>
#include <limits>

#include "store/commands/command.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

void add(call& c, std::int64_t by) {
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  const auto value = old ? parse_integer(old->payload) : 0;
  if (!value) return c.out.error(errors::kNotInteger);
  std::int64_t sum;
  if (__builtin_add_overflow(*value, by, &sum)) {
    return c.out.error("ERR increment or decrement would overflow");
  }
  char digits[24];
  const char* end = std::to_chars(digits, digits + sizeof digits, sum).ptr;
  const record stored{.payload = {digits, static_cast<std::size_t>(end - digits)},
                      .expires_ms = old ? old->expires_ms : kNever};
  if (put_or_refuse(c, c[1], stored)) c.out.integer(sum);
}

void incr(call& c) { add(c, 1); }
void decr(call& c) { add(c, -1); }

void incrby(call& c) {
  const auto by = parse_integer(c[2]);
  if (!by) return c.out.error(errors::kNotInteger);
  add(c, *by);
}

void decrby(call& c) {
  const auto by = parse_integer(c[2]);
  if (!by) return c.out.error(errors::kNotInteger);
  if (*by == std::numeric_limits<std::int64_t>::min()) {
    return c.out.error("ERR decrement would overflow");
  }
  add(c, -*by);
}

void incrbyfloat(call& c) {
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  const auto value = old ? parse_float(old->payload) : 0.0L;
  const auto by = parse_float(c[2]);
  if (!value || !by) return c.out.error("ERR value is not a valid float");
  const long double sum = *value + *by;
  if (std::isnan(sum) || std::isinf(sum)) {
    return c.out.error("ERR increment would produce NaN or Infinity");
  }
  const std::string text = format_float(sum);
  const record stored{
      .payload = text, .expires_ms = old ? old->expires_ms : kNever, .how = encoding::embedded};
  if (put_or_refuse(c, c[1], stored)) c.out.bulk(text);
}

constexpr key_positions kOne{1, 1, 1};
constexpr std::uint32_t kFlags = kWrite | kDenyOom | kFast;
constexpr std::string_view kGroup = "string";
constexpr command kCommands[] = {
    {"incr", 2, kFlags, kOne, incr, kGroup, "1.0.0", "Increment the integer value of a key by one"},
    {"decr", 2, kFlags, kOne, decr, kGroup, "1.0.0", "Decrement the integer value of a key by one"},
    {"incrby", 3, kFlags, kOne, incrby, kGroup, "1.0.0",
     "Increment the integer value of a key by the given amount"},
    {"decrby", 3, kFlags, kOne, decrby, kGroup, "1.0.0",
     "Decrement the integer value of a key by the given number"},
    {"incrbyfloat", 3, kFlags, kOne, incrbyfloat, kGroup, "2.6.0",
     "Increment the float value of a key by the given amount"},
};

}  // namespace

std::span<const command> counter_commands() { return kCommands; }

}  // namespace isotherm::store
