#include "collector/window/migration.hpp"

#include <utility>

#include "base/page.hpp"
#include "guide/guide.hpp"
#include "heap/object.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"
#include "os/clock.hpp"
#include "sync/epoch.hpp"

namespace isotherm::collector {

namespace {

/// Epochs that could not begin in time, one after the other, after which the window gives up. One
/// says little: a thread can sit in its scope for as long as a read takes.
constexpr unsigned kAbandonedInARowMax = 8;

/// Ends, at its own end, what a protocol's begin() began.
class epoch_guard {
 public:
  explicit epoch_guard(migration_protocol& protocol) noexcept : protocol_(protocol) {}
  ~epoch_guard() { protocol_.end(); }
  epoch_guard(const epoch_guard&) = delete;
  epoch_guard& operator=(const epoch_guard&) = delete;

 private:
  migration_protocol& protocol_;
};

/// Bytes that one batch may read of COLD: they are in DRAM together.
constexpr std::uint64_t kReadBytes = std::uint64_t{4} << 20;

/// Adds an object of COLD, unless it has been used since it was listed and was to stay in COLD:
/// mover::attempt() leaves it where it is.
class reads_of final : public guides::slot_visitor {
 public:
  explicit reads_of(heap::batch_reads& reads) noexcept : reads_(reads) {}
  void aim(heap::place target) noexcept { target_ = target; }
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    const bool stays = target_.where == heap::kind::cold && guides::is_accessed(w);
    if (guides::is_in_cold(w) && !stays) reads_.add(guides::pointer_of(w));
    return guides::verdict::keep_due;
  }

 private:
  heap::batch_reads& reads_;
  heap::place target_ = heap::kind::cold;
};

constexpr std::uint64_t cost_of(const candidate& one) noexcept {
  return one.bytes + kMoveCostBytes;
}

/// An upper bound: neighbours share pages.
constexpr std::uint64_t read_bytes_of(const candidate& one) noexcept {
  return one.is_in_cold ? (one.bytes / base::kPageBytes + 1) * base::kPageBytes : 0;
}

/// Returns the objects that move together; `cost` gets their cost.
std::span<const candidate> first_batch(std::span<const candidate> all, std::uint64_t most_cost,
                                       std::uint64_t& cost) noexcept {
  std::size_t objects = 0;
  std::uint64_t read = 0;
  for (; objects < all.size() && cost < most_cost && read < kReadBytes; ++objects) {
    cost += cost_of(all[objects]);
    read += read_bytes_of(all[objects]);
  }
  return all.first(objects);
}

}  // namespace

guides::verdict mover::visit(guides::slot_word& slot) {
  const guides::word seen = slot.load_acquire();
  if (guides::is_null(seen)) return guides::verdict::keep_due;
  std::size_t bytes = 0;
  const move_result result = attempt(slot, seen, bytes);
  count(guides::heap_of(seen), result, bytes);
  const guides::word now = slot.load_relaxed();
  // A count that stayed behind, or a lock, is for a later scan to clear, as in verdict_of() of
  // scan/candidates.hpp.
  const bool rests = !guides::is_null(now) && guides::heap_of(now) == heap::kind::cold &&
                     !guides::is_counted(now) && !guides::is_locked(now);
  return rests ? guides::verdict::drop_due : guides::verdict::keep_due;
}

move_result mover::attempt(guides::slot_word& slot, guides::word seen, std::size_t& bytes) {
  const heap::kind from = guides::heap_of(seen);
  const bool leaves = target_.where == heap::kind::cold;
  if (refuses(target_)) return move_result::full;
  // Moved or replaced since it was listed: it lies in an extent that still fills.
  if (from == target_.where && !heap::is_closed(guides::pointer_of(seen))) return move_result::moot;
  // Used, or replaced, since the scan: cold no longer.
  if (leaves && guides::is_accessed(seen)) {
    if (from == heap::kind::newborn) {
      const std::size_t size = heap::object_size(guides::pointer_of(seen));
      list(used_again_, {&slot, heap::kind::hot, false, static_cast<std::uint32_t>(size)});
    }
    return move_result::vetoed;
  }
  if (leaves && cold_writes_ != nullptr && !cold_writes_->is_left()) return move_result::held_back;
  const void* const object = guides::pointer_of(seen);
  const void* const found = guides::is_in_cold(seen) ? reads_.find(object) : object;
  if (found == nullptr) return move_result::unreadable;
  const move_result result = protocol_.move(slot, seen, found, target_, bytes);
  if (leaves && cold_writes_ != nullptr && result == move_result::moved) cold_writes_->take(bytes);
  if (result == move_result::vetoed && from == target_.where && from == heap::kind::hot) {
    const std::size_t size = heap::object_size(guides::pointer_of(seen));
    list(used_again_, {&slot, target_, false, static_cast<std::uint32_t>(size)});
  }
  return result;
}

void mover::count(heap::kind from, move_result result, std::size_t bytes) noexcept {
  switch (result) {
    case move_result::moved: {
      moves& kind = from == target_.where               ? statistics_.compacted
                    : target_.where == heap::kind::cold ? statistics_.demoted
                                                        : statistics_.promoted;
      ++kind.objects;
      kind.bytes += bytes;
      break;
    }
    case move_result::vetoed:
      ++statistics_.vetoed;
      break;
    case move_result::unreadable:
      ++statistics_.failed;
      break;
    case move_result::held_back:
      ++statistics_.held_back;
      break;
    case move_result::full:
      ++statistics_.failed;
      cold_is_full_ |= target_.where == heap::kind::cold;
      break;
    case move_result::moot:
      break;
  }
}

void migration::begin_list(std::span<const candidate> list) noexcept {
  left_ = list;
  is_second_part_ = false;
}

/// Whether something is left to move; goes on to the second part where the first is done.
bool migration::has_more() {
  if (left_.empty() && !is_second_part_) {
    is_second_part_ = true;
    used_again_ = mover_.take_used_again();
    left_ = used_again_;
  }
  if (!left_.empty()) return true;
  mover_.take_used_again();  // used in the second part too: it stays where it is in this window
  return false;
}

bool migration::move_batch() {
  if (has_ended_ || !has_more()) return false;
  if (stop_()) return !(has_ended_ = true);
  batch_cost_ = 0;
  if (limits_.cold_writes != nullptr) limits_.cold_writes->grow(os::monotonic_ns());
  const auto batch = first_batch(left_, limits_.batch_bytes, batch_cost_);
  read(batch);
  while (!run_epoch(batch)) {
    if (++abandoned_in_a_row_ == kAbandonedInARowMax || stop_()) return !(has_ended_ = true);
  }
  reads_.clear();
  abandoned_in_a_row_ = 0;
  left_ = left_.subspan(batch.size());
  return true;
}

/// Before the batch's epoch: a thread that destroys a guide waits while its object is moved.
void migration::read(std::span<const candidate> batch) {
  reads_.clear();
  reads_of visitor(reads_);
  for (const candidate& one : batch) {
    if (!one.is_in_cold || mover_.refuses(one.target)) continue;
    visitor.aim(one.target);
    guides::visit_one(one.slot, visitor);
  }
  reads_.run();
}

bool migration::run_epoch(std::span<const candidate> batch) {
  const sync::moving_guard moving;
  if (!protocol_.begin(batch, limits_.epoch)) {
    ++statistics_.abandoned_epochs;
    return false;
  }
  const epoch_guard epoch(protocol_);
  for (const candidate& one : batch) {
    mover_.aim(one.target);
    guides::visit_one(one.slot, mover_);
  }
  return true;
}

}  // namespace isotherm::collector
