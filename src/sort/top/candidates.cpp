#include "sort/top/candidates.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kTableShare = 2;  // places in the table for each candidate, at least
static_assert(sizeof(record_in_memory) + 2 * kTableShare * sizeof(std::uint32_t) <= kCandidateBytes,
              "the table has a power of two of places");

}  // namespace

candidates::candidates(const record_layout& layout, const sort_options& o, std::uint64_t room_bytes)
    : layout_(layout),
      top_(o.top),
      once_(o.unique || o.count),
      keys_only_(o.count && !layout.order().made()),
      most_(selection_candidates(o.top)),
      table_places_(once_ ? std::bit_ceil(kTableShare * most_) : 0),
      record_room_(room_bytes - most_ * sizeof(record_in_memory) -
                   table_places_ * sizeof(std::uint32_t)) {}

base::result<void> candidates::reserve() {
  auto memory = os::buffer::reserve(record_room_);
  if (!memory) return std::unexpected(memory.error());
  memory_ = std::move(*memory);
  kept_.reserve(most_);
  table_.resize(table_places_);
  return {};
}

void candidates::consider(const record_in_memory& c) {
  if (once_) {
    if (full_ && compare_keys(layout_, c, last_) > 0) return;
    if (const std::uint32_t there = *slot_of(c); there != 0) {
      ++kept_[there - 1].count;
      return;
    }
  } else if (full_ && !comes_before(layout_, c, last_)) {
    return;
  }
  if (!has_room(c)) {
    shrink();
    // Memory that stays nearly full would be searched for room over and over.
    overflowed_ = !has_room(c) || filled_ > memory_.size() / 4 * 3;
    if (overflowed_) return;
  }
  keep(c);
}

bool candidates::has_room(const record_in_memory& c) const noexcept {
  return kept_.size() < most_ && c.room() <= memory_.size() - filled_;
}

void candidates::keep(const record_in_memory& c) {
  record_in_memory copy = c;
  copy.first = memory_.data() + filled_;
  if (keys_only_) {
    copy.bytes = c.key_bytes;
    copy.key_first = copy.first;
    std::memcpy(memory_.data() + filled_, c.key_first, c.key_bytes);
  } else {
    const std::uint64_t key_at =
        c.is_key_made() ? c.bytes : static_cast<std::uint64_t>(c.key_first - c.first);
    copy.key_first = copy.first + key_at;
    std::memcpy(memory_.data() + filled_, c.first, c.bytes);
    std::memcpy(memory_.data() + filled_ + key_at, c.key_first, c.key_bytes);
  }
  filled_ += copy.room();
  if (once_) *slot_of(c) = static_cast<std::uint32_t>(kept_.size() + 1);
  kept_.push_back(copy);
}

/// Drops the candidates behind the first `top`, and moves the others together.
void candidates::shrink() {
  const auto before = [&](const record_in_memory& a, const record_in_memory& b) {
    return comes_before(layout_, a, b);
  };
  if (kept_.size() > top_) {
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(top_), kept_.end(),
                     before);
    kept_.resize(top_);
  }
  std::sort(kept_.begin(), kept_.end(),
            [](const record_in_memory& a, const record_in_memory& b) { return a.first < b.first; });
  filled_ = 0;
  for (record_in_memory& each : kept_) {
    const std::uint64_t room = each.room();
    std::memmove(memory_.data() + filled_, each.first, room);
    each.key_first -= each.first - (memory_.data() + filled_);
    each.first = memory_.data() + filled_;
    filled_ += room;
  }
  full_ = kept_.size() == top_;
  if (full_) {
    last_ = *std::max_element(kept_.begin(), kept_.end(), before);
    last_key_ = layout_.entries().key(last_.place);
  }
  std::ranges::fill(table_, 0);
  if (!once_) return;
  for (std::uint32_t i = 0; i < kept_.size(); ++i) *slot_of(kept_[i]) = i + 1;
}

/// Returns the place in the table of the candidate with c's key or, if there is none, the free
/// place for it.
std::uint32_t* candidates::slot_of(const record_in_memory& c) noexcept {
  const std::size_t mask = table_.size() - 1;
  for (std::size_t at = XXH3_64bits(c.key().data(), c.key_bytes);; ++at) {
    std::uint32_t& slot = table_[at & mask];
    if (slot == 0 || compare_keys(layout_, c, kept_[slot - 1]) == 0) return &slot;
  }
}

std::span<const record_in_memory> candidates::sorted() {
  std::sort(kept_.begin(), kept_.end(), [&](const record_in_memory& a, const record_in_memory& b) {
    return comes_before(layout_, a, b);
  });
  return std::span(kept_).first(std::min<std::uint64_t>(top_, kept_.size()));
}

}  // namespace isotherm::sort
