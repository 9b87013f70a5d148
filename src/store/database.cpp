#include "store/database.hpp"

#include <chrono>
#include <cmath>
#include <mutex>

#include "base/random.hpp"
#include "heap/usage.hpp"

namespace isotherm::store {

namespace {

/// Whether a key has expired, by the note in its stripe, which the caller holds.
bool is_due(const stripe& held, std::string_view key, std::int64_t now) {
  if (held.expires.empty()) [[likely]]
    return false;
  const auto at = held.expires.find(key);
  return at != held.expires.end() && now > at->second;
}

/// An expired key of a bucket, if there is one. The caller holds the stripe.
std::optional<std::string> due_in(const stripe& here, std::size_t bucket, std::int64_t now,
                                  database::swept& sum) {
  for (auto it = here.expires.begin(bucket); it != here.expires.end(bucket); ++it) {
    ++sum.looked_at;
    if (now > it->second) return it->first;
    ++sum.living;
    sum.left_ms += static_cast<double>(it->second - now);
  }
  return std::nullopt;
}

/// The next expired key of a stripe. None: there is no other in the rest of the stripe's table (the
/// next call begins at its start), or `is_spent`. Locks the stripe during the call.
template <class IsSpent>
std::optional<std::string> next_due(stripe& here, std::int64_t now, database::swept& sum,
                                    const IsSpent& is_spent) {
  constexpr std::size_t kBucketsBetweenLooks = 64;
  const std::lock_guard lock(here);
  std::size_t& at = here.next_swept;
  while (at < here.expires.bucket_count() && !here.expires.empty()) {
    if (auto due = due_in(here, at, now, sum)) return due;
    if (++at % kBucketsBetweenLooks == 0 && is_spent()) return std::nullopt;
  }
  at = 0;
  return std::nullopt;
}

/// By chance, one time in so many.
bool is_one_in(std::uint64_t times) noexcept {
  static thread_local base::random dice(static_cast<std::uint64_t>(now_ms()));
  return dice.below(times) == 0;
}

}  // namespace

std::int64_t now_ms() noexcept {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

database::database(index::any_index& index, memory_meter::probe used_memory)
    : index_(index),
      memory_(std::move(used_memory)),
      clocks_(std::make_unique<base::atomic<std::uint32_t>[]>(kClocks)) {}

void database::wait_for_several(std::string_view key) noexcept { one_key wait(stripes_, key); }

answer<std::optional<record>> database::find(access& inside, std::string_view key, std::int64_t now,
                                             lookup purpose) {
  const bool holds_stripe = purpose == lookup::before_write || purpose == lookup::read_before_write;
  auto found = holds_stripe ? find_live_in_stripe(inside, key, now) : find_live(inside, key, now);
  const bool notes = purpose != lookup::peek && purpose != lookup::inspect;
  if (notes && found && *found) touch(key, now);
  return found;
}

answer<std::optional<record>> database::find_live(access& inside, std::string_view key,
                                                  std::int64_t now) {
  if (stripes_.several_in_progress()) [[unlikely]]
    wait_for_several(key);
  const auto stored = index_.find(inside, key);
  if (inside.has_lost()) [[unlikely]]
    return std::unexpected(inside.result());
  if (!stored) return std::nullopt;
  const record found = records::decode(*stored);
  if (!found.is_expired(now)) [[likely]]
    return found;
  one_key lock(stripes_, key);
  return find_live_in_stripe(inside, key, now);
}

answer<std::optional<record>> database::find_live_in_stripe(access& inside, std::string_view key,
                                                            std::int64_t now) {
  const auto stored = index_.find(inside, key);
  if (inside.has_lost()) [[unlikely]]
    return std::unexpected(inside.result());
  if (!stored) return std::nullopt;
  const record found = records::decode(*stored);
  if (!found.is_expired(now)) [[likely]]
    return found;
  const auto removed = remove(inside, key);
  if (!removed) return std::unexpected(removed.error());
  if (*removed) counted_.expired.add(1);
  return std::nullopt;
}

index::outcome database::put(access& inside, std::string_view key, const record& value,
                             const index::content& payload, std::int64_t now) {
  const records::encoded stored(value, payload);
  const auto outcome = index_.upsert(inside, key, index::content(stored.size(), stored));
  if (outcome != index::outcome::done) return outcome;
  memory_.note_written(key.size() + stored.size());
  stripe& held = stripes_.of(key);
  if (is_due(held, key, now)) counted_.expired.add(1);  // the replaced value had expired
  note_expiry(held, key, value.expires_ms);
  if (value.expires_ms != kNever && writers_sweep_.load_relaxed()) sweep_beside(inside, held, now);
  touch(key, now);
  return outcome;
}

/// Removes the expired keys in the next buckets of a stripe that the caller holds. These buckets
/// have on average more keys than the one that the caller has added, so that expired keys cannot
/// become many more than live ones.
void database::sweep_beside(access& inside, stripe& held, std::int64_t now) {
  constexpr int kBuckets = 4;
  swept not_told;
  for (int i = 0; i < kBuckets; ++i) {
    if (held.next_swept >= held.expires.bucket_count()) held.next_swept = 0;
    const std::size_t bucket = held.next_swept++;
    while (const auto due = due_in(held, bucket, now, not_told)) {
      if (!expire(inside, held, *due) && is_due(held, *due, now)) return;  // it was put off
    }
  }
}

index::outcome database::append(access& inside, std::string_view key, const record& old,
                                std::size_t zeros, std::string_view tail, std::int64_t now) {
  const std::size_t more = zeros + tail.size();
  // Values in COLD are not written to: its file stays as it is (guide/fetched.hpp).
  const bool is_cold =
      index_.is_managed() && heap::range_of(heap::kind::cold).contains(old.payload.data());
  if (old.room > 0 && more <= old.room && !is_cold) {
    records::append_in_place(old, zeros, tail);
    return index::outcome::done;
  }
  const std::size_t size = old.payload.size() + more;
  const record grown{
      .expires_ms = old.expires_ms, .how = encoding::raw, .room = records::room_for(size)};
  const auto join = [&](char* to) {
    old.payload.copy(to, old.payload.size());
    std::memset(to + old.payload.size(), 0, zeros);
    tail.copy(to + old.payload.size() + zeros, tail.size());
  };
  return put(inside, key, grown, index::content(size, join), now);
}

answer<bool> database::remove(access& inside, std::string_view key) {
  const bool was_there = index_.erase(inside, key);
  if (!was_there && inside.has_lost()) return std::unexpected(inside.result());
  note_expiry(stripes_.of(key), key, kNever);
  return was_there;
}

answer<bool> database::holds(access& inside, std::string_view key, std::int64_t now) {
  const bool is_there = index_.contains(inside, key);
  if (!is_there && inside.has_lost()) return std::unexpected(inside.result());
  if (!is_there || is_due(stripes_.of(key), key, now)) return false;
  touch(key, now);
  return true;
}

answer<bool> database::remove_live(access& inside, std::string_view key, std::int64_t now) {
  const bool had_expired = is_due(stripes_.of(key), key, now);
  const auto removed = remove(inside, key);
  if (!removed || !*removed) return removed;
  if (had_expired) counted_.expired.add(1);
  return !had_expired;
}

bool database::expire(access& inside, stripe& held, const std::string& key) {
  const auto removed = remove(inside, key);
  if (removed && *removed) counted_.expired.add(1);
  // If a key on the way cannot be read, this one stays; without a note it is not tried again. An
  // access that does not wait cannot tell that from a key that is out: the sweep, which waits,
  // does.
  if (inside.waits() || removed) note_expiry(held, key, kNever);
  return removed && *removed;
}

void database::note_expiry(stripe& held, std::string_view key, std::int64_t expires_ms) {
  if (expires_ms == kNever) {
    if (held.expires.empty()) [[likely]]
      return;
    const auto at = held.expires.find(key);
    if (at == held.expires.end()) return;
    held.expires.erase(at);
    expiring_.fetch_sub_relaxed(1);
    return;
  }
  if (held.expires.insert_or_assign(std::string(key), expires_ms).second) {
    expiring_.fetch_add_relaxed(1);
  }
}

void database::clear() {
  several_keys everything(stripes_);
  index_.clear();
  for (std::size_t i = 0; i < stripes::kCount; ++i) {
    expiring_.fetch_sub_relaxed(stripes_.at(i).expires.size());
    decltype(stripe::expires)().swap(stripes_.at(i).expires);
  }
}

std::uint32_t database::idle_seconds(std::string_view key, std::int64_t now) const noexcept {
  const auto last = clocks_[text_hash{}(key) % kClocks].load_relaxed();
  const auto second = static_cast<std::uint32_t>(now / 1000);
  return second > last && last != 0 ? second - last : 0;
}

/// One of the live keys of the piece at `cursor`, which becomes that of the next piece; stays if a
/// key was missed, and then the access has recorded what else the piece will miss.
std::optional<std::string> database::random_key_of_piece(access& inside, std::uint64_t& cursor,
                                                         std::int64_t now) {
  constexpr int kReadTogether = 16;  // keys of a piece
  std::optional<std::string> chosen;
  std::uint64_t visited = 0;
  int noted = 0;
  inside.renew();
  const bool some_expire = expiring_keys() > 0;
  const auto visit = [&](std::optional<std::string_view> key,
                         std::optional<std::string_view> stored) {
    if (inside.has_missed()) return ++noted < kReadTogether;
    if (!key) return true;
    const bool is_gone = stored ? records::decode(*stored).is_expired(now)
                                : some_expire && has_expired(inside, *key, now);
    if (!is_gone && is_one_in(++visited)) chosen = *key;
    return true;
  };
  const std::uint64_t next = index_.walk(inside, cursor, visit);
  if (inside.has_missed()) return std::nullopt;
  cursor = next;
  return chosen;
}

answer<std::optional<std::string>> database::random_key(access& inside, std::int64_t now) {
  std::uint64_t cursor = random_cursor_.load_relaxed();
  std::optional<std::string> chosen;
  access::outcome met = access::outcome::complete;
  // Two rounds at most: from the cursor to the end, and from the start.
  for (int rounds = 0; rounds < 2;) {
    auto one = random_key_of_piece(inside, cursor, now);
    const bool is_silent = inside.result() == access::outcome::disk_silent;
    // Either the call runs again, from here, or it is an error.
    if (inside.has_missed() || (is_silent && !chosen)) {
      met = inside.result();
      break;
    }
    if (is_silent) break;  // the key found before is the answer
    if (one) chosen = std::move(one);
    if (cursor == 0) ++rounds;
    // One time in four the walk goes on, so that calls do not stop at the same pieces in each
    // round.
    if (chosen && !is_one_in(4)) break;
  }
  random_cursor_.store_relaxed(cursor);
  if (met != access::outcome::complete) return std::unexpected(met);
  return chosen;
}

bool database::has_expired(access& inside, std::string_view key, std::int64_t now) {
  stripe& here = stripes_.of(key);
  const std::lock_guard lock(here);
  if (is_due(here, key, now)) return true;
  // It may have been removed, with the note, since the walk has come to it.
  const access::outcome so_far = inside.result();
  const bool is_there = index_.contains(inside, key);
  inside.note(so_far);
  return !is_there;
}

bool database::remove_due(stripe& here, const std::string& key, std::int64_t now) {
  access inside;
  index_.contains(inside, key);  // a cold key is read from disk before the stripe is locked
  const std::lock_guard lock(here);
  return is_due(here, key, now) && expire(inside, here, key);
}

/// A few of the last sweeps have most of the weight, as in Redis.
void database::note_left(const swept& sum) noexcept {
  constexpr double kWeight = 0.02;
  if (expiring_keys() == 0) mean_left_ms_.store_relaxed(0);
  if (sum.living == 0) return;
  const double mean = sum.left_ms / static_cast<double>(sum.living);
  const double before = mean_left_ms_.load_relaxed();
  mean_left_ms_.store_relaxed(before == 0 ? mean : before + kWeight * (mean - before));
}

std::int64_t database::average_ttl_ms() const noexcept {
  return expiring_keys() == 0 ? 0 : std::llround(mean_left_ms_.load_relaxed());
}

database::swept database::sweep_expired(std::int64_t now, std::uint64_t budget_ns, clock time) {
  swept sum;
  const std::uint64_t began = time();
  const auto is_spent = [&] { return time() - began >= budget_ns; };
  for (std::size_t visited = 0; visited < stripes::kCount && expiring_.load_relaxed() > 0;) {
    stripe& here = stripes_.at(sweep_next_);
    const auto key = next_due(here, now, sum, is_spent);
    if (key && remove_due(here, *key, now)) ++sum.removed;
    const bool is_done = !key && here.next_swept == 0;
    if (is_done) {
      sweep_next_ = (sweep_next_ + 1) % stripes::kCount;
      ++visited;
    }
    // A stripe without keys that expire costs less than reading the clock.
    if ((!is_done || visited % 64 == 0) && is_spent()) break;
  }
  note_left(sum);
  return sum;
}

}  // namespace isotherm::store
