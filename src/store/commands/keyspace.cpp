// Commands on the whole key space. They renew their access for each piece of the walk, so that a
// long walk does not delay the collector.
#include <fmt/format.h>

#include <limits>
#include <string>
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
  const auto chosen = c.db.random_key(c.in(), c.now);
  if (!chosen) return c.fail(chosen.error());
  if (const std::optional<std::string>& key = *chosen)
    c.out.bulk(*key);
  else
    c.out.null();
}

/// A walk that has missed a key goes on recording what else it will miss, until it has so much to
/// read, or for so long: other clients wait meanwhile, and so does the collector.
constexpr std::uint64_t kMissedAtOnce = std::uint64_t{8} << 20;
constexpr std::uint64_t kRecordingNs = 1'000'000;

/// A walk through the live keys that match, piece by piece. If the access does not wait, a piece
/// with a key that is out of DRAM gives nothing.
class walk {
 public:
  /// Goes on from `so_far`. Once it has missed a key it looks at `wanted` more at most.
  walk(call& c, walked_keys& so_far, std::string_view pattern, std::uint64_t wanted) noexcept
      : call_(c), inside_(c.in()), so_far_(so_far), pattern_(pattern), wanted_(wanted) {}

  /// Walks one piece; false: it has missed keys, and the command is to run again when they have
  /// been read, or the disk does not answer for them.
  bool next();
  /// After that: records what the next pieces miss as well, and ends the command.
  void miss_more();
  /// Instead of that: the keys found before are the answer.
  void forget_missed() { static_cast<void>(inside_.take_misses()); }

  bool is_at_end() const noexcept { return so_far_.cursor == 0; }
  std::uint64_t visited() const noexcept { return visited_; }

 private:
  bool has_recorded_enough() const noexcept {
    return recorded_ >= wanted_ || inside_.missed_bytes() >= kMissedAtOnce ||
           os::monotonic_ns() - recording_since_ns_ >= kRecordingNs;
  }
  std::uint64_t visit_piece(std::uint64_t cursor);

  call& call_;
  access& inside_;
  walked_keys& so_far_;
  const std::string_view pattern_;
  const std::uint64_t wanted_;
  std::vector<std::string> in_piece_;
  std::uint64_t visited_ = 0, recorded_ = 0, recording_since_ns_ = 0;
  std::uint64_t piece_end_ = 0;  // the next cursor, by the last visit
  access::outcome met_ = access::outcome::complete;
};

/// Returns the next cursor.
std::uint64_t walk::visit_piece(std::uint64_t cursor) {
  inside_.renew();
  database& db = call_.db;
  const bool some_expire = db.expiring_keys() > 0;
  const auto visit = [&](std::optional<std::string_view> key,
                         std::optional<std::string_view> stored) {
    if (met_ != access::outcome::complete || inside_.has_missed()) {
      if (recorded_++ == 0) recording_since_ns_ = os::monotonic_ns();
      return !has_recorded_enough();
    }
    ++visited_;
    if (!key) return true;
    const bool is_gone = stored ? records::decode(*stored).is_expired(call_.now)
                                : some_expire && db.has_expired(inside_, *key, call_.now);
    if (!is_gone && (pattern_ == "*" || matches_glob(pattern_, *key))) in_piece_.emplace_back(*key);
    return true;
  };
  const std::uint64_t end = db.index().walk(inside_, cursor, visit);
  // A key that cannot be read is left out.
  if (inside_.result() != access::outcome::unreadable) met_ = std::max(met_, inside_.result());
  return end;
}

bool walk::next() {
  in_piece_.clear();
  piece_end_ = visit_piece(so_far_.cursor);
  if (met_ != access::outcome::complete) return false;
  so_far_.cursor = piece_end_;
  for (std::string& key : in_piece_) {
    so_far_.found_bytes += sizeof(std::string) + key.size();
    so_far_.found.push_back(std::move(key));
  }
  return true;
}

void walk::miss_more() {
  // An ordered structure does not go beyond the piece that has missed keys: all are recorded.
  std::uint64_t at = so_far_.cursor, end = piece_end_;
  while (end != at && end != 0 && !has_recorded_enough()) end = visit_piece(at = end);
  call_.fail(met_);
}

void keys(call& c) {
  walked_keys of_one_run;
  walked_keys& all = c.walked != nullptr ? *c.walked : of_one_run;
  walk through(c, all, c[1], std::numeric_limits<std::uint64_t>::max());
  do {
    if (!through.next()) return through.miss_more();
  } while (!through.is_at_end());
  c.in().close();  // sorting delays no grace period
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
  c.in().close();
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
