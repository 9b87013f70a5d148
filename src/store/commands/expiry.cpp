// Commands on times to live.
#include <fmt/format.h>

#include <limits>

#include "store/commands/times.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

/// The conditions that the EXPIRE commands take.
struct conditions {
  bool nx = false, xx = false, gt = false, lt = false;

  bool allow(std::int64_t current, std::int64_t next) const noexcept {
    if (nx && current != kNever) return false;
    if (xx && current == kNever) return false;
    if (gt && (current == kNever || next <= current)) return false;
    if (lt && current != kNever && next >= current) return false;
    return true;
  }
};

std::optional<conditions> parse_conditions(call& c) {
  conditions found;
  for (const auto word : c.arguments.subspan(3)) {
    if (equals_folded(word, "nx"))
      found.nx = true;
    else if (equals_folded(word, "xx"))
      found.xx = true;
    else if (equals_folded(word, "gt"))
      found.gt = true;
    else if (equals_folded(word, "lt"))
      found.lt = true;
    else {
      c.out.error(fmt::format("ERR Unsupported option {}", word));
      return std::nullopt;
    }
  }
  if (found.nx && (found.xx || found.gt || found.lt)) {
    c.out.error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return std::nullopt;
  }
  if (found.gt && found.lt) {
    c.out.error("ERR GT and LT options at the same time are not compatible");
    return std::nullopt;
  }
  return found;
}

/// Unlike the options of SET, these times may lie in the past: the key is then removed at once.
std::optional<std::int64_t> parse_any_time(call& c, time_unit unit, std::string_view name) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  const auto value = parse_integer(c[2]);
  if (!value) {
    c.out.error(errors::kNotInteger);
    return std::nullopt;
  }
  std::int64_t time = *value;
  const std::int64_t base = unit.absolute ? 0 : c.now;
  const bool fits = !unit.seconds || (time <= kMax / 1000 && time >= kMin / 1000);
  if (fits && unit.seconds) time *= 1000;
  if (!fits || time > kMax - base) {
    c.out.error(fmt::format("ERR invalid expire time in '{}' command", name));
    return std::nullopt;
  }
  return time + base;
}

void expire_at(call& c, time_unit unit, std::string_view name) {
  const auto allowed = parse_conditions(c);
  if (!allowed) return;
  const auto when = parse_any_time(c, unit, name);
  if (!when) return;
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  if (!old || !allowed->allow(old->expires_ms, *when)) return c.out.integer(0);
  record changed = *old;
  changed.expires_ms = *when;
  if (*when <= c.now) {
    const auto removed = c.db.remove(c.in(), c[1]);
    if (!removed) return c.fail(removed.error());
  } else if (!put_or_refuse(c, c[1], changed)) {
    return;
  }
  c.out.integer(1);
}
void expire(call& c) { expire_at(c, {.seconds = true, .absolute = false}, "expire"); }
void pexpire(call& c) { expire_at(c, {.seconds = false, .absolute = false}, "pexpire"); }
void expireat(call& c) { expire_at(c, {.seconds = true, .absolute = true}, "expireat"); }
void pexpireat(call& c) { expire_at(c, {.seconds = false, .absolute = true}, "pexpireat"); }

void time_left(call& c, time_unit unit) {
  const auto looked = c.find(c[1], lookup::inspect);
  if (!looked) return c.fail(looked.error());
  const std::optional<record>& found = *looked;
  if (!found) return c.out.integer(-2);
  if (found->expires_ms == kNever) return c.out.integer(-1);
  const std::int64_t time =
      unit.absolute ? found->expires_ms : std::max<std::int64_t>(found->expires_ms - c.now, 0);
  const std::int64_t rounded = time / 1000 + (time % 1000 >= 500 ? 1 : 0);
  c.out.integer(unit.seconds ? rounded : time);
}
void ttl(call& c) { time_left(c, {.seconds = true, .absolute = false}); }
void pttl(call& c) { time_left(c, {.seconds = false, .absolute = false}); }
void expiretime(call& c) { time_left(c, {.seconds = true, .absolute = true}); }
void pexpiretime(call& c) { time_left(c, {.seconds = false, .absolute = true}); }

void persist(call& c) {
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  if (!old || old->expires_ms == kNever) return c.out.integer(0);
  record changed = *old;
  changed.expires_ms = kNever;
  if (put_or_refuse(c, c[1], changed)) c.out.integer(1);
}

constexpr key_positions kOne{1, 1, 1};
constexpr std::string_view kGroup = "generic";
constexpr command kCommands[] = {
    {"expire", -3, kWrite | kFast, kOne, expire, kGroup, "1.0.0",
     "Set a key's time to live in seconds"},
    {"pexpire", -3, kWrite | kFast, kOne, pexpire, kGroup, "2.6.0",
     "Set a key's time to live in milliseconds"},
    {"expireat", -3, kWrite | kFast, kOne, expireat, kGroup, "1.2.0",
     "Set the expiration for a key as a UNIX timestamp"},
    {"pexpireat", -3, kWrite | kFast, kOne, pexpireat, kGroup, "2.6.0",
     "Set the expiration for a key as a UNIX timestamp specified in milliseconds"},
    {"ttl", 2, kReadOnly | kFast, kOne, ttl, kGroup, "1.0.0",
     "Get the time to live for a key in seconds"},
    {"pttl", 2, kReadOnly | kFast, kOne, pttl, kGroup, "2.6.0",
     "Get the time to live for a key in milliseconds"},
    {"expiretime", 2, kReadOnly | kFast, kOne, expiretime, kGroup, "7.0.0",
     "Get the expiration Unix timestamp for a key"},
    {"pexpiretime", 2, kReadOnly | kFast, kOne, pexpiretime, kGroup, "7.0.0",
     "Get the expiration Unix timestamp for a key in milliseconds"},
    {"persist", 2, kWrite | kFast, kOne, persist, kGroup, "2.2.0",
     "Remove the expiration from a key"},
};

}  // namespace

std::span<const command> expiry_commands() { return kCommands; }

}  // namespace isotherm::store
