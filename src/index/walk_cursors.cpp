#include "index/walk_cursors.hpp"

namespace isotherm::index {

std::optional<std::string> walk_cursors::find(std::uint64_t cursor) {
  const std::lock_guard guard(mutex_);
  const auto it = positions_.find(cursor);
  if (it == positions_.end()) return std::nullopt;
  return it->second;
}

std::uint64_t walk_cursors::advance(std::uint64_t cursor, std::string_view last_key) {
  const std::lock_guard guard(mutex_);
  forget_locked(cursor);
  while (!positions_.empty() &&
         (positions_.size() >= kMaxWalks || key_bytes_ + last_key.size() > kMaxBytes)) {
    forget_locked(positions_.begin()->first);
  }
  positions_.emplace(++last_cursor_, last_key);
  key_bytes_ += last_key.size();
  return last_cursor_;
}

void walk_cursors::forget(std::uint64_t cursor) {
  const std::lock_guard guard(mutex_);
  forget_locked(cursor);
}

void walk_cursors::forget_locked(std::uint64_t cursor) {
  const auto it = positions_.find(cursor);
  if (it == positions_.end()) return;
  key_bytes_ -= it->second.size();
  positions_.erase(it);
}

}  // namespace isotherm::index
