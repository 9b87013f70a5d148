// A run being merged: its next entries, and the slots of their keys for comparisons that the
// entries do not decide. Slots are loaded for several entries at a time: for more as long as
// comparisons use most of them, for fewer otherwise.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "sort/runs/key_slots.hpp"
#include "sort/runs/reader.hpp"

namespace isotherm::sort {

class run_cursor {
 public:
  /// `room` holds the entries and slots; at least bytes_for(keys, 1).
  run_cursor(run_reader reader, key_slots& keys, std::span<std::byte> room)
      : reader_(reader), keys_(keys) {
    const std::size_t n = room.size() / bytes_for(keys, 1);
    ahead_ = {reinterpret_cast<entry*>(room.data()), n};
    slots_ = {reinterpret_cast<key_slot*>(room.data() + ahead_.size_bytes()), n * keys.per_entry()};
    advance();
  }
  static std::size_t bytes_for(const key_slots& keys, std::size_t entries) noexcept {
    return entries * (sizeof(entry) + keys.per_entry() * sizeof(key_slot));
  }

  entry head() const noexcept { return ahead_[at_]; }
  bool exhausted() const noexcept { return at_ == end_; }
  void advance() {
    asked_ = false;
    if (at_ + 1 < end_) {
      ++at_;
    } else {
      refill();
    }
  }
  /// The slots of the head, whose key must be undecided.
  const key_slot* slots() {
    if (at_ >= loaded_ || generation_ != keys_.generation()) load();
    used_ += !asked_;
    asked_ = true;
    return &slots_[at_ * keys_.per_entry()];
  }

 private:
  void refill() {
    at_ = end_ = loaded_ = 0;
    while (end_ < ahead_.size() && reader_.next(ahead_[end_])) ++end_;
  }
  void load() {
    const bool pays = 2 * used_ >= last_loaded_;
    batch_ = std::clamp<std::size_t>(pays ? 2 * batch_ : batch_ / 2, 1, ahead_.size());
    last_loaded_ = std::min(batch_, end_ - at_);
    used_ = 0;
    const std::size_t each = keys_.per_entry();
    keys_.load(ahead_.subspan(at_, last_loaded_), slots_.subspan(at_ * each, last_loaded_ * each));
    loaded_ = at_ + last_loaded_;
    generation_ = keys_.generation();
  }

  run_reader reader_;
  key_slots& keys_;
  std::span<entry> ahead_;
  std::span<key_slot> slots_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::size_t loaded_ = 0;       // end of the entries whose slots are loaded
  std::size_t batch_ = 1;        // how many entries to load slots for at a time
  std::size_t last_loaded_ = 0;  // entries whose slots were loaded last
  std::size_t used_ = 0;         // how many of last_loaded_ were asked for
  bool asked_ = false;           // whether the head's slots were asked for
  unsigned generation_ = 0;
};

}  // namespace isotherm::sort
