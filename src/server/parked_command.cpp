#include "server/parked_command.hpp"

#include <algorithm>
#include <utility>

namespace isotherm::server {

namespace {

std::uint64_t bytes_of(const std::vector<std::shared_ptr<const heap::cold_read>>& reads) noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : reads) sum += each->where().bytes;
  return sum;
}

}  // namespace

const heap::arrived_reads& parked_command::arrived() {
  arrived_.clear();
  for (const read& each : ended_) arrived_.add(each);
  for (const read& each : ahead_) {
    if (each->has_ended()) arrived_.add(each);
  }
  return arrived_;
}

std::uint64_t parked_command::held_bytes() const noexcept {
  return bytes_of(awaited_) + bytes_of(ended_) + bytes_of(ahead_) - counted_twice_ +
         walked_.found_bytes;
}

/// A read that was started for the command when it was looked at ahead is what it waits for: asked
/// for anew it would count as another use of the object, which would bring it back.
parked_command::read parked_command::ask(heap::miss&& missed) {
  const auto brings = [&missed](const read& each) {
    return !each->is_cancelled() && each->where().offset == missed.where().offset &&
           each->where().bytes >= missed.where().bytes;
  };
  const auto at = std::ranges::find_if(ahead_, brings);
  if (at == ahead_.end()) return reader_->read(std::move(missed), client_);
  counted_twice_ += (*at)->where().bytes;
  return *at;  // it stays there for later commands, whose records may lie in the same pages
}

void parked_command::park(std::vector<heap::miss> missed) {
  if (walked_.cursor != std::exchange(parked_at_, walked_.cursor)) {
    ended_.erase(ended_.begin(), ended_.begin() + static_cast<std::ptrdiff_t>(ended_before_));
    // Of the reads that go some may have been counted twice: held_bytes() may now be too high.
    counted_twice_ = 0;
  }
  ended_before_ = ended_.size();
  std::uint64_t held = bytes_of(ended_);
  must_wait_ = !ended_.empty() && held >= kHeldBytes;
  for (heap::miss& each : missed) {
    if (must_wait_) break;
    held += each.where().bytes;
    awaited_.push_back(ask(std::move(each)));
    if (held >= kHeldBytes) break;
  }
  is_parked_ = true;  // last: a command that finds no memory for this is answered with an error
}

void parked_command::read_ahead(std::vector<heap::miss> missed) {
  forget();
  std::uint64_t held = 0;
  for (heap::miss& each : missed) {
    held += each.where().bytes;
    if (held > kHeldBytes) break;  // the others are read when it is their turn
    ahead_.push_back(reader_->read(std::move(each), client_));
  }
}

bool parked_command::is_ready() const noexcept {
  return std::ranges::all_of(awaited_, [](const read& each) { return each->has_ended(); });
}

void parked_command::resume() {
  // What it found in earlier runs it needs again.
  std::ranges::move(awaited_, std::back_inserter(ended_));
  awaited_.clear();
  is_parked_ = false;
}

void parked_command::finish() noexcept {
  must_wait_ = false;
  counted_twice_ = 0;
  ended_.clear();
  arrived_.clear();
  walked_ = {};
  parked_at_ = 0;
  ended_before_ = 0;
}

std::vector<heap::miss> misses_of(std::string_view requests, const resp_parser::limits& bounds,
                                  const store::command_table& commands, store::database& db,
                                  const heap::arrived_reads& arrived, const turn& mine,
                                  std::size_t& seen) {
  heap::miss_watch watch(arrived, heap::miss_watch::copies::allowed);
  const heap::read_watch reads;
  resp_parser parser;
  const std::size_t all = requests.size();
  while (!requests.empty() && parser.parse(requests, bounds) == resp_parser::status::command) {
    const auto arguments = parser.arguments();
    const store::command* const invoked = arguments.empty() ? nullptr : commands.find(arguments[0]);
    if (invoked != nullptr && (invoked->flags & store::kReadOnly) != 0) {
      store::for_each_key(*invoked, arguments, [&db](std::string_view key) {
        const sync::scope inside;
        db.index().find(inside, key);
      });
    }
    requests.remove_prefix(parser.consumed());
    if (mine.is_over()) break;
  }
  seen = all - requests.size();
  reads.forgive();
  return watch.take();
}

}  // namespace isotherm::server
