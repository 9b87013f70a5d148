// Commands on the whole key space. They open a scope for each piece of the walk, so that a long
// walk does not delay the collector.
#include <fmt/format.h>

#include <vector>

#include "store/commands/command.hpp"
#include "store/text.hpp"

namespace isotherm::store {

namespace {

void dbsize(call& c) { c.out.integer(static_cast<std::int64_t>(c.db.keys())); }

void flush(call& c) {
  if (c.count() > 2 ||
      (c.count() == 2 && !equals_folded(c[1], "sync") && !equals_folded(c[1], "async"))) {
    return c.out.error(errors::kSyntax);
  }
  c.db.clear();
  c.out.ok();
}

void randomkey(call& c) {
  const auto key = c.db.random_key(c.now);
  if (key)
    c.out.bulk(*key);
  else
    c.out.null();
}

/// Appends the live keys of one piece that match; returns the next cursor.
std::uint64_t walk_piece(call& c, std::uint64_t cursor, std::string_view pattern,
                         std::vector<std::string>& keys, std::size_t& visited) {
  const sync::scope inside;
  const heap::read_watch reads;
  const bool some_expire = c.db.expiring_keys() > 0;
  const auto visit = [&](std::string_view key, std::string_view stored) {
    ++visited;
    if (is_unreadable(key, stored)) return true;
    const bool is_gone = guides::is_absent(stored) ? some_expire && c.db.has_expired(key, c.now)
                                                   : records::decode(stored).is_expired(c.now);
    if (!is_gone && (pattern == "*" || matches_glob(pattern, key))) {
      keys.emplace_back(key);
    }
    return true;
  };
  const std::uint64_t next = c.db.index().walk(inside, cursor, visit);
  reads.forgive();  // what cannot be read is left out
  return next;
}

void keys(call& c) {
  std::vector<std::string> found;
  std::uint64_t cursor = 0;
  std::size_t visited = 0;
  do {
    cursor = walk_piece(c, cursor, c[1], found, visited);
  } while (cursor != 0);
  // A walk shows keys twice if the table grows meanwhile; KEYS answers each once.
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  c.out.array(found.size());
  for (const auto& key : found) c.out.bulk(key);
}

void scan(call& c) {
  std::string_view pattern = "*";
  std::int64_t wanted = 10;
  bool any_type = true;
  const auto start = parse_cursor(c[1]);
  if (!start) return c.out.error("ERR invalid cursor");
  for (std::size_t i = 2; i < c.count(); i += 2) {
    if (i + 1 == c.count()) return c.out.error(errors::kSyntax);
    if (equals_folded(c[i], "count")) {
      const auto count = parse_integer(c[i + 1]);
      if (!count) return c.out.error(errors::kNotInteger);
      if (*count < 1) return c.out.error(errors::kSyntax);
      wanted = *count;
    } else if (equals_folded(c[i], "match")) {
      pattern = c[i + 1];
    } else if (equals_folded(c[i], "type")) {
      any_type = equals_folded(c[i + 1], "string");
    } else {
      return c.out.error(errors::kSyntax);
    }
  }
  std::vector<std::string> found;
  std::uint64_t cursor = *start;
  std::size_t visited = 0;
  std::int64_t pieces = 0;
  // Bounded also where most of the table is empty, as in Redis: ten pieces for each key asked for.
  do {
    cursor = walk_piece(c, cursor, pattern, found, visited);
  } while (cursor != 0 && static_cast<std::int64_t>(visited) < wanted && ++pieces / 10 < wanted);
  if (!any_type) found.clear();
  c.out.array(2);
  c.out.bulk(fmt::format("{}", cursor));
  c.out.array(found.size());
  for (const auto& key : found) c.out.bulk(key);
}

constexpr command kCommands[] = {
    {"dbsize",
     1,
     kReadOnly | kFast,
     {},
     dbsize,
     "server",
     "1.0.0",
     "Return the number of keys in the selected database"},
    {"flushall",
     -1,
     kWrite | kDangerous,
     {},
     flush,
     "server",
     "1.0.0",
     "Remove all keys from all databases"},
    {"flushdb",
     -1,
     kWrite | kDangerous,
     {},
     flush,
     "server",
     "1.0.0",
     "Remove all keys from the current database"},
    {"randomkey",
     1,
     kReadOnly,
     {},
     randomkey,
     "generic",
     "1.0.0",
     "Return a random key from the keyspace"},
    {"keys",
     2,
     kReadOnly | kDangerous,
     {},
     keys,
     "generic",
     "1.0.0",
     "Find all keys matching the given pattern"},
    {"scan", -2, kReadOnly, {}, scan, "generic", "2.8.0", "Incrementally iterate the keys space"},
};

}  // namespace

std::span<const command> keyspace_commands() { return kCommands; }

}  // namespace isotherm::store
