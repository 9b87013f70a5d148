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

/// When a walk has missed a key it goes on noting what else it will miss, until it has so much to
/// read, or for so long: other clients wait meanwhile, and so does the collector.
constexpr std::uint64_t kMissedAtOnce = std::uint64_t{8} << 20;
constexpr std::uint64_t kNotingNs = 1'000'000;

/// A walk through the live keys that match, piece by piece. For a thread that does not wait
/// (heap::miss_watch) a piece with a key that is out of DRAM gives nothing.
class walk {
 public:
  /// Goes on from `so_far`. Once it has missed a key it looks at `wanted` more at most.
  walk(call& c, walked_keys& so_far, std::string_view pattern, std::uint64_t wanted) noexcept
      : call_(c),
        watch_(heap::miss_watch::of_this_thread()),
        so_far_(so_far),
        pattern_(pattern),
        wanted_(wanted) {}

  /// Walks one piece; false: it has missed keys, and the command is to run again when they have
  /// been read, or the disk does not answer for them.
  bool next();
  /// After that: notes what the next pieces miss as well.
  void miss_more();
  /// Instead of that: what was found before is the answer.
  void forget_missed() const {
    static_cast<void>(watch_->take());
    reads_.forgive();
  }

  bool is_at_end() const noexcept { return so_far_.cursor == 0; }
  std::uint64_t visited() const noexcept { return visited_; }

 private:
  bool has_noted_enough() const noexcept {
    return noted_ >= wanted_ || watch_->missed_bytes() >= kMissedAtOnce ||
           os::monotonic_ns() - noting_since_ns_ >= kNotingNs;
  }
  std::uint64_t visit_piece(std::uint64_t cursor);

  call& call_;
  heap::miss_watch* const watch_;
  const heap::read_watch reads_;
  walked_keys& so_far_;
  const std::string_view pattern_;
  const std::uint64_t wanted_;
  std::vector<std::string> in_piece_;
  std::uint64_t visited_ = 0, noted_ = 0, noting_since_ns_ = 0;
  std::uint64_t piece_end_ = 0;  // as the last visit has told
};

/// Returns the next cursor.
std::uint64_t walk::visit_piece(std::uint64_t cursor) {
  const sync::scope inside;
  database& db = call_.db;
  const bool some_expire = db.expiring_keys() > 0;
  const auto visit = [&](std::string_view key, std::string_view stored) {
    if (guides::has_missed()) {
      if (noted_++ == 0) noting_since_ns_ = os::monotonic_ns();
      return !has_noted_enough();
    }
    ++visited_;
    if (is_unreadable(key, stored)) return true;
    const bool is_gone = guides::is_absent(stored) ? some_expire && db.has_expired(key, call_.now)
                                                   : records::decode(stored).is_expired(call_.now);
    if (!is_gone && (pattern_ == "*" || matches_glob(pattern_, key))) in_piece_.emplace_back(key);
    return true;
  };
  return db.index().walk(inside, cursor, visit);
}

bool walk::next() {
  in_piece_.clear();
  piece_end_ = visit_piece(so_far_.cursor);
  if (guides::has_missed() || reads_.disk_is_silent()) return false;
  reads_.forgive();  // what cannot be read is left out
  so_far_.cursor = piece_end_;
  for (std::string& key : in_piece_) {
    so_far_.found_bytes += sizeof(std::string) + key.size();
    so_far_.found.push_back(std::move(key));
  }
  return true;
}

void walk::miss_more() {
  // An ordered structure does not go beyond the piece that has missed keys: it has noted all.
  std::uint64_t at = so_far_.cursor, end = piece_end_;
  while (end != at && end != 0 && !has_noted_enough()) end = visit_piece(at = end);
}

void keys(call& c) {
  walked_keys of_one_run;
  walked_keys& all = c.walked != nullptr ? *c.walked : of_one_run;
  walk through(c, all, c[1], std::numeric_limits<std::uint64_t>::max());
  do {
    if (!through.next()) return through.miss_more();
  } while (!through.is_at_end());
  // A walk shows keys twice if the table grows meanwhile; KEYS answers each once.
  std::vector<std::string>& found = all.found;
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
  walked_keys some;
  some.cursor = *start;
  walk through(c, some, pattern, static_cast<std::uint64_t>(std::max(wanted, std::int64_t{16})));
  std::int64_t pieces = 0;
  // Bounded also where most of the table is empty, as in Redis: ten pieces for each key asked for.
  do {
    if (through.next()) continue;
    if (pieces == 0) return through.miss_more();
    through.forget_missed();  // the next call begins with them
    break;
  } while (!through.is_at_end() && static_cast<std::int64_t>(through.visited()) < wanted &&
           ++pieces / 10 < wanted);
  if (!any_type) some.found.clear();
  c.out.array(2);
  c.out.bulk(fmt::format("{}", some.cursor));
  c.out.array(some.found.size());
  for (const auto& key : some.found) c.out.bulk(key);
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
     kWrite | kOnlyFrees | kDangerous,
     {},
     flush,
     "server",
     "1.0.0",
     "Remove all keys from all databases"},
    {"flushdb",
     -1,
     kWrite | kOnlyFrees | kDangerous,
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
