// Commands on the whole key space. They open a scope for each piece of the walk, so that a long
// walk does not delay the collector.
#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "heap/cold/misses.hpp"
#include "heap/readable.hpp"
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

/// Pages of cold keys that a walk asks for at once, in bytes.
constexpr std::uint64_t kMissedAtOnce = std::uint64_t{8} << 20;

/// A walk through the live keys that match, piece by piece. For a thread that does not wait
/// (heap::miss_watch) a piece with a key that is out of DRAM gives nothing.
class walk {
 public:
  /// Of so many keys at once pages are asked for.
  walk(call& c, std::uint64_t cursor, std::string_view pattern, std::size_t at_once) noexcept
      : call_(c),
        watch_(heap::miss_watch::of_this_thread()),
        cursor_(cursor),
        pattern_(pattern),
        at_once_(at_once) {}

  /// Walks one piece; false: it has missed keys. The command is to run again when they have been
  /// read.
  bool next();
  /// After that: notes what the next pieces miss as well.
  void miss_more();
  /// Instead of that: what was found before is the answer.
  void forget_missed() const {
    static_cast<void>(watch_->take());
    reads_.forgive();
  }

  std::uint64_t cursor() const noexcept { return cursor_; }
  std::size_t visited() const noexcept { return visited_; }
  std::vector<std::string>& found() noexcept { return found_; }

 private:
  bool may_miss_more() const noexcept {
    return !guides::has_missed() || (unread_ < at_once_ && watch_->missed_bytes() < kMissedAtOnce);
  }
  std::uint64_t visit_piece(std::uint64_t cursor);

  call& call_;
  heap::miss_watch* const watch_;
  const heap::read_watch reads_;
  std::uint64_t cursor_;
  const std::string_view pattern_;
  const std::size_t at_once_;
  std::size_t visited_ = 0, unread_ = 0;
  std::vector<std::string> found_;
};

/// Returns the next cursor.
std::uint64_t walk::visit_piece(std::uint64_t cursor) {
  const sync::scope inside;
  database& db = call_.db;
  const bool some_expire = db.expiring_keys() > 0;
  const auto visit = [&](std::string_view key, std::string_view stored) {
    ++visited_;
    if (is_unreadable(key, stored)) {
      ++unread_;
      return may_miss_more();
    }
    const bool is_gone = guides::is_absent(stored) ? some_expire && db.has_expired(key, call_.now)
                                                   : records::decode(stored).is_expired(call_.now);
    if (!is_gone && (pattern_ == "*" || matches_glob(pattern_, key))) found_.emplace_back(key);
    return true;
  };
  return db.index().walk(inside, cursor, visit);
}

bool walk::next() {
  const std::size_t found_before = found_.size();
  const std::uint64_t end = visit_piece(cursor_);
  if (guides::has_missed()) {
    found_.resize(found_before);
    return false;
  }
  reads_.forgive();  // what cannot be read is left out
  cursor_ = end;
  return true;
}

void walk::miss_more() {
  for (std::uint64_t at = cursor_; may_miss_more();) {
    const std::uint64_t end = visit_piece(at);
    if (end == at || end == 0) return;
    at = end;
  }
}

void keys(call& c) {
  walk all(c, 0, c[1], std::numeric_limits<std::size_t>::max());
  do {
    if (!all.next()) return all.miss_more();
  } while (all.cursor() != 0);
  // A walk shows keys twice if the table grows meanwhile; KEYS answers each once.
  std::vector<std::string>& found = all.found();
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
  // A piece has about 16 keys: of fewer at once it would be read in several turns.
  walk some(c, *start, pattern, static_cast<std::size_t>(std::max(wanted, std::int64_t{16})));
  std::int64_t pieces = 0;
  // Bounded also where most of the table is empty, as in Redis: ten pieces for each key asked for.
  do {
    if (some.next()) continue;
    if (pieces == 0) return some.miss_more();
    some.forget_missed();  // the next call begins with them
    break;
  } while (some.cursor() != 0 && static_cast<std::int64_t>(some.visited()) < wanted &&
           ++pieces / 10 < wanted);
  if (!any_type) some.found().clear();
  c.out.array(2);
  c.out.bulk(fmt::format("{}", some.cursor()));
  c.out.array(some.found().size());
  for (const auto& key : some.found()) c.out.bulk(key);
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
     kReadOnly | kWalks,
     {},
     randomkey,
     "generic",
     "1.0.0",
     "Return a random key from the keyspace"},
    {"keys",
     2,
     kReadOnly | kDangerous | kWalks,
     {},
     keys,
     "generic",
     "1.0.0",
     "Find all keys matching the given pattern"},
    {"scan",
     -2,
     kReadOnly | kWalks,
     {},
     scan,
     "generic",
     "2.8.0",
     "Incrementally iterate the keys space"},
};

}  // namespace

std::span<const command> keyspace_commands() { return kCommands; }

}  // namespace isotherm::store
