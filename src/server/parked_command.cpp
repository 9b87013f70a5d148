#include "server/parked_command.hpp"

#include <algorithm>
#include <utility>

#include "heap/configure.hpp"

namespace isotherm::server {

namespace {
constexpr std::size_t kKeptReads = 64;  // room for so many is kept for the next command
}  // namespace

void parked_command::asked_reads::add(read asked) {
  reads_.push_back(std::move(asked));
  bytes_ += reads_.back()->where().bytes;
}

void parked_command::asked_reads::remove_first(std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) bytes_ -= reads_[i]->where().bytes;
  reads_.erase(reads_.begin(), reads_.begin() + static_cast<std::ptrdiff_t>(count));
  ended_ -= std::min(ended_, count);
}

void parked_command::asked_reads::clear() noexcept {
  if (reads_.capacity() > kKeptReads) {
    decltype(reads_)().swap(reads_);  // an idle client holds nothing
  } else {
    reads_.clear();
  }
  ended_ = 0;
  bytes_ = 0;
}

bool parked_command::asked_reads::have_ended() noexcept {
  while (ended_ < reads_.size() && reads_[ended_]->has_ended()) ++ended_;
  return ended_ == reads_.size();
}

bool parked_command::park(std::vector<heap::miss> missed) {
  if (walked_.cursor != std::exchange(parked_at_, walked_.cursor)) {
    for (std::size_t i = 0; i < waited_for_; ++i) reads_.remove(own_[i]);
    own_.remove_first(waited_for_);
    // Some of the reads that go may have been counted twice: held_bytes() may now be too high.
    counted_twice_ = 0;
  }
  waited_for_ = own_.size();
  const std::uint64_t held = heap::read_limits().noted_bytes;
  if (!own_.is_empty() && own_.bytes() >= held) return false;
  for (heap::miss& each : missed) {
    if (reads_.asked_for(each.where())) continue;  // for another argument
    // A read that was started for the command when it was looked at ahead is what it waits for:
    // asked for anew it would count as another use of the object, which would bring it back. It
    // stays there for later commands, whose records may lie in the same pages.
    read asked = reads_ahead_.asked_for(each.where());
    const bool was_ahead = asked != nullptr;
    if (!was_ahead) asked = reader_->read(std::move(each), client_);
    reads_.add(asked);
    own_.add(asked);
    if (was_ahead) counted_twice_ += asked->where().bytes;
    if (own_.bytes() >= held) break;
  }
  return true;
}

std::uint64_t parked_command::room_ahead(std::uint64_t left) const noexcept {
  const std::uint64_t all = has_looked_again_ ? kAheadBytes : kAheadBytes / 2;
  return std::min(all - std::min(all, ahead_.bytes()), left);
}

void parked_command::read_ahead(std::vector<heap::miss> missed) {
  for (heap::miss& each : missed) {
    const read asked = reader_->read(std::move(each), client_);
    if (reads_ahead_.add(asked)) ahead_.add(asked);
  }
}

void parked_command::forget() noexcept {
  counted_twice_ = 0;
  has_looked_again_ = false;
  ahead_.clear();
  reads_ahead_.clear();
}

std::vector<heap::arrived_reads::read> parked_command::own_reads() const {
  std::vector<read> all;
  all.reserve(own_.size());
  for (std::size_t i = 0; i < own_.size(); ++i) all.push_back(own_[i]);
  return all;
}

void parked_command::finish() noexcept {
  counted_twice_ = 0;
  own_.clear();
  reads_.clear();
  walked_ = {};
  parked_at_ = 0;
  waited_for_ = 0;
}

look_ahead look(std::string_view requests, const resp_parser::limits& bounds,
                const store::command_table& commands, store::database& db,
                const heap::arrived_reads& arrived, const turn& mine, std::uint64_t room) {
  access inside(access::when_cold::prefetch, &arrived);
  look_ahead found;
  const auto has_no_room = [&] { return inside.missed_bytes() >= room; };
  const auto is_enough = [&] { return mine.is_over() || has_no_room(); };
  bool has_looked = false;
  resp_parser parser;
  const std::size_t all = requests.size();
  while (!requests.empty() && parser.parse(requests, bounds) == resp_parser::status::command) {
    if (has_looked && is_enough()) {
      found.ended_by_turn = !has_no_room();
      break;
    }
    const auto arguments = parser.arguments();
    const store::command* const invoked = arguments.empty() ? nullptr : commands.find(arguments[0]);
    if (invoked != nullptr) {
      const bool is_reading = (invoked->flags & store::kReadOnly) != 0;
      bool has_looked_here = false;
      store::for_each_key(*invoked, arguments, [&](std::string_view key) {
        // A look counts as a use: only keys that are going to be asked for are looked at.
        if (std::exchange(has_looked_here, true) && is_enough()) return;
        inside.renew();
        is_reading ? static_cast<void>(db.index().find(inside, key))
                   : static_cast<void>(db.index().contains(inside, key));
      });
      has_looked |= has_looked_here;
    }
    requests.remove_prefix(parser.consumed());
  }
  found.seen = all - requests.size();
  found.missed = inside.take_misses();
  return found;
}

}  // namespace isotherm::server
