// GET, SET and their relatives.
#include "store/commands/times.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

void answer(reply& out, const std::optional<record>& value) {
  if (value) [[likely]]
    out.bulk(value->payload);
  else
    out.null();
}

void get(call& c) {
  const auto found = c.find(c[1], lookup::read);
  if (!found) [[unlikely]]
    return c.fail(found.error());
  answer(c.out, *found);
}

void set_plain(call& c) {
  one_key lock(c.db.locks(), c[1]);
  if (put_or_refuse(c, c[1], {.payload = c[2]})) c.out.ok();
}

void set(call& c) {
  if (c.count() == 3) [[likely]]
    return set_plain(c);
  const auto options = parse_string_options(c, 3, options_of::set);
  if (!options) return;
  record stored{.payload = c[2]};
  if (options->unit) {
    const auto at = parse_positive_time(c, options->time, *options->unit, "set");
    if (!at) return;
    stored.expires_ms = *at;
  }
  one_key lock(c.db.locks(), c[1]);
  std::optional<record> old;  // looked up only if an option needs it
  if (options->get || options->only_new || options->only_existing || options->keep_ttl) {
    const auto found =
        c.find(c[1], options->get ? lookup::read_before_write : lookup::before_write);
    if (!found) return c.fail(found.error());
    old = *found;
  }
  if ((options->only_new && old) || (options->only_existing && !old)) {
    return options->get ? answer(c.out, old) : c.out.null();
  }
  if (options->keep_ttl && old) stored.expires_ms = old->expires_ms;
  if (!put_or_refuse(c, c[1], stored)) return;
  if (options->get)
    answer(c.out, old);
  else
    c.out.ok();
}

void setnx(call& c) {
  one_key lock(c.db.locks(), c[1]);
  const auto old = c.find(c[1], lookup::before_write);
  if (!old) return c.fail(old.error());
  if (*old) return c.out.integer(0);
  if (put_or_refuse(c, c[1], {.payload = c[2]})) c.out.integer(1);
}

void set_for(call& c, time_unit unit, std::string_view name) {
  const auto at = parse_positive_time(c, c[2], unit, name);
  if (!at) return;
  one_key lock(c.db.locks(), c[1]);
  if (put_or_refuse(c, c[1], {.payload = c[3], .expires_ms = *at})) c.out.ok();
}
void setex(call& c) { set_for(c, {.seconds = true}, "setex"); }
void psetex(call& c) { set_for(c, {.seconds = false}, "psetex"); }

void getset(call& c) {
  one_key lock(c.db.locks(), c[1]);
  const auto old = c.find(c[1], lookup::read_before_write);
  if (!old) return c.fail(old.error());
  if (put_or_refuse(c, c[1], {.payload = c[2]})) answer(c.out, *old);
}

void getdel(call& c) {
  one_key lock(c.db.locks(), c[1]);
  const auto old = c.find(c[1], lookup::read_before_write);
  if (!old) return c.fail(old.error());
  if (*old) {
    const auto removed = c.db.remove(c.in(), c[1]);
    if (!removed) return c.fail(removed.error());
  }
  answer(c.out, *old);  // the access keeps the removed value
}

void getex(call& c) {
  const auto options = parse_string_options(c, 2, options_of::getex);
  if (!options) return;
  one_key lock(c.db.locks(), c[1]);
  const auto found = c.find(c[1], lookup::read_before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& old = *found;
  if (!old) return c.out.null();
  record changed = *old;
  if (options->unit) {
    const auto at = parse_positive_time(c, options->time, *options->unit, "getex");
    if (!at) return;
    changed.expires_ms = *at;
  }
  if (options->persist) changed.expires_ms = kNever;
  if (changed.is_expired(c.now)) {
    const auto removed = c.db.remove(c.in(), c[1]);
    if (!removed) return c.fail(removed.error());
  } else if (changed.expires_ms != old->expires_ms && !put_or_refuse(c, c[1], changed)) {
    return;
  }
  answer(c.out, old);
}

void mget(call& c) {
  std::vector<std::optional<record>> values;
  values.reserve(c.count() - 1);
  for (const auto key : c.arguments.subspan(1)) {
    const auto found = c.find(key, lookup::read);
    found ? values.push_back(*found) : c.fail(found.error());  // the others are read meanwhile
  }
  if (c.failure != access::outcome::complete) return;
  c.out.array(values.size());
  for (const auto& each : values) answer(c.out, each);
}

/// MSET and MSETNX after the checks; false when memory ran out.
bool put_all(call& c) {
  for (std::size_t i = 1; i < c.count(); i += 2) {
    if (!put_or_refuse(c, c[i], {.payload = c[i + 1]})) return false;
  }
  return true;
}

bool has_pairs(call& c, std::string_view error) {
  if (c.count() % 2 == 1) return true;
  c.out.error(error);
  return false;
}

void mset(call& c) {
  if (!has_pairs(c, "ERR wrong number of arguments for 'mset' command")) return;
  several_keys locks(c.db.locks(), c.arguments.subspan(1), 2);
  if (put_all(c)) c.out.ok();
}

void msetnx(call& c) {
  if (!has_pairs(c, "ERR wrong number of arguments for 'msetnx' command")) return;
  several_keys locks(c.db.locks(), c.arguments.subspan(1), 2);
  for (std::size_t i = 1; i < c.count(); i += 2) {
    const auto is_there = c.db.holds(c.in(), c[i], c.now);
    if (!is_there) return c.fail(is_there.error());
    if (*is_there) return c.out.integer(0);
  }
  if (put_all(c)) c.out.integer(1);
}

constexpr key_positions kOne{1, 1, 1};
constexpr std::string_view kGroup = "string";
constexpr command kCommands[] = {
    {"get", 2, kReadOnly | kFast, kOne, get, kGroup, "1.0.0", "Get the value of a key"},
    {"set", -3, kWrite | kDenyOom, kOne, set, kGroup, "1.0.0", "Set the string value of a key"},
    {"setnx", 3, kWrite | kDenyOom | kFast, kOne, setnx, kGroup, "1.0.0",
     "Set the value of a key, only if the key does not exist"},
    {"setex", 4, kWrite | kDenyOom, kOne, setex, kGroup, "2.0.0",
     "Set the value and expiration of a key"},
    {"psetex", 4, kWrite | kDenyOom, kOne, psetex, kGroup, "2.6.0",
     "Set the value and expiration in milliseconds of a key"},
    {"getset", 3, kWrite | kDenyOom | kFast, kOne, getset, kGroup, "1.0.0",
     "Set the string value of a key and return its old value"},
    {"getdel", 2, kWrite | kOnlyFrees | kFast, kOne, getdel, kGroup, "6.2.0",
     "Get the value of a key and delete the key"},
    {"getex", -2, kWrite | kFast, kOne, getex, kGroup, "6.2.0",
     "Get the value of a key and optionally set its expiration"},
    {"mget",
     -2,
     kReadOnly | kFast,
     {1, -1, 1},
     mget,
     kGroup,
     "1.0.0",
     "Get the values of all the given keys"},
    {"mset",
     -3,
     kWrite | kDenyOom,
     {1, -1, 2},
     mset,
     kGroup,
     "1.0.1",
     "Set multiple keys to multiple values"},
    {"msetnx",
     -3,
     kWrite | kDenyOom,
     {1, -1, 2},
     msetnx,
     kGroup,
     "1.0.1",
     "Set multiple keys to multiple values, only if none of the keys exist"},
};

}  // namespace

std::span<const command> string_commands() { return kCommands; }

}  // namespace isotherm::store
