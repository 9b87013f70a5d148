// Commands on keys whatever their value: DEL, EXISTS, TYPE, RENAME, COPY, TOUCH.
#include "store/commands/command.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

void del(call& c) {
  std::int64_t removed = 0;
  for (const auto key : c.arguments.subspan(1)) {
    c.in().renew();
    const one_key lock(c.db.locks(), key);
    const auto was_there = c.db.remove_live(c.in(), key, c.now);
    if (!was_there) {
      c.fail(was_there.error());  // the others go all the same
    } else if (*was_there) {
      ++removed;
    }
  }
  if (c.failure == access::outcome::complete) c.out.integer(removed);
}

template <lookup Purpose>
void count_present(call& c) {
  std::int64_t present = 0;
  for (const auto key : c.arguments.subspan(1)) {
    c.in().renew();
    const auto found = c.find(key, Purpose);
    if (!found) {
      c.fail(found.error());  // the others are read meanwhile
    } else if (*found) {
      ++present;
    }
  }
  if (c.failure == access::outcome::complete) c.out.integer(present);
}

void type(call& c) {
  const auto found = c.find(c[1], lookup::inspect);
  if (!found) return c.fail(found.error());
  c.out.status(*found ? "string" : "none");
}

enum class on_existing : std::uint8_t { replace, refuse };

void rename_to(call& c, on_existing policy) {
  const bool refuses = policy == on_existing::refuse;
  several_keys locks(c.db.locks(), c.arguments.subspan(1));
  const auto found = c.find(c[1], lookup::before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& moved = *found;
  if (!moved) return c.out.error(errors::kNoSuchKey);
  if (c[1] == c[2]) return refuses ? c.out.integer(0) : c.out.ok();
  if (refuses) {
    const auto there = c.find(c[2], lookup::before_write);
    if (!there) return c.fail(there.error());
    if (*there) return c.out.integer(0);
  }
  if (!put_or_refuse(c, c[2], *moved)) return;
  c.in().wait_from_here();  // run again, it would find the new name taken
  const auto removed = c.db.remove(c.in(), c[1]);
  if (!removed) return c.fail(removed.error());
  if (refuses)
    c.out.integer(1);
  else
    c.out.ok();
}
void rename(call& c) { rename_to(c, on_existing::replace); }
void renamenx(call& c) { rename_to(c, on_existing::refuse); }

void copy(call& c) {
  bool replaces = false;
  for (std::size_t i = 3; i < c.count(); ++i) {
    if (equals_folded(c[i], "replace")) {
      replaces = true;
    } else if (equals_folded(c[i], "db") && i + 1 < c.count()) {
      const auto db = parse_integer(c[++i]);
      if (!db) return c.out.error(errors::kNotInteger);
      if (*db > INT32_MAX || *db < INT32_MIN) return c.out.error(errors::kNotInt32);
      if (*db != 0) return c.out.error(errors::kNoSuchDatabase);
    } else {
      return c.out.error(errors::kSyntax);
    }
  }
  if (c[1] == c[2]) return c.out.error("ERR source and destination objects are the same");
  several_keys locks(c.db.locks(), c.arguments.subspan(1, 2));
  const auto found = c.find(c[1], lookup::read_before_write);
  if (!found) return c.fail(found.error());
  const std::optional<record>& source = *found;
  if (!source) return c.out.integer(0);
  if (!replaces) {
    const auto there = c.find(c[2], lookup::before_write);
    if (!there) return c.fail(there.error());
    if (*there) return c.out.integer(0);
  }
  record copied = *source;
  copied.room = 0;  // only a value that is appended to has room
  if (put_or_refuse(c, c[2], copied)) c.out.integer(1);
}

constexpr key_positions kOne{1, 1, 1};
constexpr key_positions kTwo{1, 2, 1};
constexpr key_positions kMany{1, -1, 1};
constexpr std::string_view kGroup = "generic";
constexpr command kCommands[] = {
    {"del", -2, kWrite | kOnlyFrees, kMany, del, kGroup, "1.0.0", "Delete a key"},
    {"unlink", -2, kWrite | kOnlyFrees | kFast, kMany, del, kGroup, "4.0.0",
     "Delete a key; its memory is given back after open operations"},
    {"exists", -2, kReadOnly | kFast, kMany, count_present<lookup::inspect>, kGroup, "1.0.0",
     "Determine if a key exists"},
    {"touch", -2, kReadOnly | kFast, kMany, count_present<lookup::read>, kGroup, "3.2.1",
     "Alters the last access time of a key(s). Returns the number of existing keys specified."},
    {"type", 2, kReadOnly | kFast, kOne, type, kGroup, "1.0.0", "Determine the type stored at key"},
    {"rename", 3, kWrite, kTwo, rename, kGroup, "1.0.0", "Rename a key"},
    {"renamenx", 3, kWrite | kFast, kTwo, renamenx, kGroup, "1.0.0",
     "Rename a key, only if the new key does not exist"},
    {"copy", -3, kWrite | kDenyOom, kTwo, copy, kGroup, "6.2.0", "Copy a key"},
};

}  // namespace

std::span<const command> key_commands() { return kCommands; }

}  // namespace isotherm::store
