// The positions of walks through an ordered structure: the last key visited does not fit in a
// 64-bit cursor, so that the cursor names an entry of this table.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "index/index.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// Whether a scan visits the key itself at which it begins.
enum class bound : std::uint8_t { inclusive, exclusive };

/// The place where a scan begins, upwards or downwards.
struct scan_start {
  std::string_view key;
  bound kind = bound::inclusive;
};

/// A bounded table of positions. Each walk has one entry, which is renewed with each piece. When
/// the table is full the oldest entries are dropped, which are those of abandoned walks first. A
/// walk whose entry was dropped starts again, so that it still visits every key at least once.
/// Thread-safe.
class walk_cursors {
 public:
  /// The last key visited by the walk at `cursor`; none: begin at the first key.
  std::optional<std::string> find(std::uint64_t cursor);
  /// Notes that the walk at `cursor` (0: a new one) has come to `last_key`. Returns its next
  /// cursor, which is not 0.
  std::uint64_t advance(std::uint64_t cursor, std::string_view last_key);
  /// Drops the entry of the walk at `cursor`, which has ended.
  void forget(std::uint64_t cursor);

 private:
  static constexpr std::size_t kMaxWalks = 4096;
  static constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

  void forget_locked(std::uint64_t cursor);

  std::mutex mutex_;
  std::map<std::uint64_t, std::string> positions_;  // oldest first
  std::size_t key_bytes_ = 0;                       // == sum of the positions' sizes
  std::uint64_t last_cursor_ = 0;
};

/// Visits the pairs of a scan, which ends at one that could not be had. Passes over one that was
/// erased meanwhile.
class scanning {
 public:
  scanning(const access& inside, const visitor& visit) noexcept : inside_(inside), visit_(visit) {}
  bool operator()(std::optional<std::string_view> key,
                  std::optional<std::string_view> value) const {
    return key && value ? visit_(*key, *value) : !inside_.has_lost();
  }

 private:
  const access& inside_;
  const visitor& visit_;
};

/// Gives a `Map` its scan() and walk(). The map offers go_up(inside, from, how, visit): it visits
/// the pairs from that scan_start upwards.
template <class Map>
class upward_scans {
 public:
  void scan(access& inside, std::string_view from, const visitor& visit) {
    self().go_up(inside, scan_start{from}, reading::use, scanning(inside, visit));
  }

  /// A piece is some keys in order. For an access that has missed a key, the walk stays where it
  /// is, and the piece is to be walked again; it goes on only for what else is missed, until the
  /// visitor ends it. It stays also where the disk does not answer.
  std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit) {
    constexpr std::size_t kPieceKeys = 16;
    const std::optional<std::string> last = cursor ? cursors_.find(cursor) : std::nullopt;
    std::size_t visited = 0;
    std::string_view now;
    bool is_cut = false;
    const pair_visitor counting = [&](std::optional<std::string_view> key,
                                      std::optional<std::string_view> value) {
      if (!key) return visit(key, value);  // cannot be continued from
      now = *key;
      is_cut = !visit(key, value) || (!inside.has_missed() && ++visited == kPieceKeys);
      return !is_cut;
    };
    self().go_up(inside, last ? scan_start{*last, bound::exclusive} : scan_start{}, reading::peek,
                 counting);
    if (inside.has_missed() || inside.result() == access::outcome::disk_silent) return cursor;
    if (is_cut) return cursors_.advance(cursor, now);
    cursors_.forget(cursor);
    return 0;
  }

 private:
  Map& self() noexcept { return static_cast<Map&>(*this); }

  walk_cursors cursors_;
};

}  // namespace isotherm::index
