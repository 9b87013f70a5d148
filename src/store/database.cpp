#include "store/database.hpp"

#include <chrono>
#include <cmath>

#include "base/random.hpp"

namespace isotherm::store {

namespace {

/// Records are put together here; big ones give their memory back.
std::string& scratch() {
  static thread_local std::string buffer;
  return buffer;
}
constexpr std::size_t kScratchKept = std::size_t{1} << 20;

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

std::optional<record> database::peek(const sync::scope& inside, std::string_view key,
                                     std::int64_t now) {
  if (stripes_.several_in_progress()) [[unlikely]]
    wait_for_several(key);
  const auto stored = index_.find(inside, key);
  if (!stored) return std::nullopt;
  const record found = records::decode(*stored);
  if (!found.is_expired(now)) [[likely]]
    return found;
  one_key lock(stripes_, key);
  return find_live(inside, key, now);
}

std::optional<record> database::read(const sync::scope& inside, std::string_view key,
                                     std::int64_t now) {
  auto found = inspect(inside, key, now);
  if (found) touch(key, now);
  return found;
}

std::optional<record> database::inspect(const sync::scope& inside, std::string_view key,
                                        std::int64_t now) {
  auto found = peek(inside, key, now);
  count_lookup(found.has_value());
  return found;
}

std::optional<record> database::current(const sync::scope& inside, std::string_view key,
                                        std::int64_t now) {
  auto found = find_live(inside, key, now);
  if (found) touch(key, now);
  return found;
}

std::optional<record> database::read_current(const sync::scope& inside, std::string_view key,
                                             std::int64_t now) {
  auto found = current(inside, key, now);
  count_lookup(found.has_value());
  return found;
}

std::optional<record> database::find_live(const sync::scope& inside, std::string_view key,
                                          std::int64_t now) {
  const auto stored = index_.find(inside, key);
  if (!stored) return std::nullopt;
  const record found = records::decode(*stored);
  if (!found.is_expired(now)) [[likely]]
    return found;
  remove(key);
  counted_.expired.add(1);
  return std::nullopt;
}

bool database::put(std::string_view key, const record& value, std::int64_t now) {
  std::string& buffer = scratch();
  records::encode(buffer, value);
  const auto outcome = index_.upsert(key, buffer);
  memory_.note_written(key.size() + buffer.size());
  if (buffer.capacity() > kScratchKept) std::string().swap(buffer);
  if (outcome == index::outcome::no_memory) return false;
  note_expiry(stripes_.of(key), key, value.expires_ms);
  touch(key, now);
  return true;
}

bool database::remove(std::string_view key) {
  note_expiry(stripes_.of(key), key, kNever);
  return index_.erase(key);
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
  for (std::size_t i = 0; i < stripes::kCount; ++i) {
    expiring_.fetch_sub_relaxed(stripes_.at(i).expires.size());
    decltype(stripe::expires)().swap(stripes_.at(i).expires);
  }
  index_.clear();
}

std::uint32_t database::idle_seconds(std::string_view key, std::int64_t now) const noexcept {
  const auto last = clocks_[text_hash{}(key) % kClocks].load_relaxed();
  const auto second = static_cast<std::uint32_t>(now / 1000);
  return second > last && last != 0 ? second - last : 0;
}

std::optional<std::string> database::random_key(std::int64_t now) {
  static thread_local base::random dice(static_cast<std::uint64_t>(now));
  std::uint64_t cursor = random_cursor_.load_relaxed();
  std::optional<std::string> chosen;
  // Two rounds at most: from the cursor to the end, and from the start.
  for (int rounds = 0; rounds < 2;) {
    std::uint64_t seen = 0;
    const sync::scope inside;
    cursor = index_.walk(inside, cursor, [&](std::string_view key, std::string_view stored) {
      if (!records::decode(stored).is_expired(now) && dice.below(++seen) == 0) chosen = key;
      return true;
    });
    if (cursor == 0) ++rounds;
    // Now and then a found key is passed over, so that calls do not march in step with the table.
    if (chosen && dice.below(4) != 0) break;
  }
  random_cursor_.store_relaxed(cursor);
  return chosen;
}

std::size_t database::sweep_expired(double share, std::int64_t now) {
  if (expiring_.load_relaxed() == 0) return 0;
  const auto stripes_to_visit =
      static_cast<std::size_t>(std::ceil(share * static_cast<double>(stripes::kCount)));
  std::size_t removed = 0;
  std::size_t at = sweep_next_.load_relaxed();
  for (std::size_t i = 0; i < stripes_to_visit; ++i, at = (at + 1) % stripes::kCount) {
    stripe& here = stripes_.at(at);
    std::vector<std::string> due;
    here.lock();
    for (const auto& [key, expires_ms] : here.expires) {
      if (now > expires_ms) due.push_back(key);
    }
    here.unlock();
    for (const auto& key : due) {
      const sync::scope inside;
      one_key lock(stripes_, key);
      if (here.expires.contains(key) && !find_live(inside, key, now)) ++removed;
    }
  }
  sweep_next_.store_relaxed(at);
  return removed;
}

}  // namespace isotherm::store
