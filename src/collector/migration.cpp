#include "collector/migration.hpp"

#include <algorithm>
#include <utility>

#include "base/words.hpp"
#include "sync/epoch.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::collector {

namespace {

/// Copies piece by piece, as long as `slot` holds `expected`: an object that was used, replaced or
/// is being destroyed would be copied in vain. False when it was left off.
bool copy_while_wanted(const guides::slot_word& slot, guides::word expected, void* to,
                       const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes; done += kCopiedPieceBytes) {
    // Relaxed: the commit decides; this only saves what remains.
    if (done != 0 && slot.load_relaxed() != expected) return false;
    base::copy_words_racy(static_cast<std::byte*>(to) + done,
                          static_cast<const std::byte*>(from) + done,
                          std::min(kCopiedPieceBytes, bytes - done));
    sync::pause_at(sync::step::copied_piece, &slot);
  }
  return true;
}

}  // namespace

move_result copy_and_commit(guides::slot_word& slot, guides::word expected, heap::kind target,
                            std::size_t& bytes) {
  void* const from = guides::pointer_of(expected);
  bytes = heap::object_size(from);
  void* const to = heap::allocate(target, bytes, heap::room::fresh);
  if (!to) return move_result::full;
  const auto next = guides::moved_to(expected, reinterpret_cast<guides::word>(to), target);
  // Release publishes the copy to whoever dereferences the new word.
  if (!copy_while_wanted(slot, expected, to, from, bytes) ||
      !slot.compare_exchange_acq_rel(expected, next)) {
    heap::deallocate(to, heap::room::fresh);
    return move_result::vetoed;
  }
  heap::deallocate(from, heap::room::fresh);
  return move_result::moved;
}

namespace {

/// What the moved leave behind goes back to the system as they move: a first demotion moves nearly
/// everything, which must not be in memory twice.
constexpr std::size_t kBatchesBetweenTrims = 64;

/// Epochs that could not begin in time, one after the other, after which the window gives up. One
/// says little: a thread can sit in its scope for as long as its page takes to come from the disk.
constexpr unsigned kAbandonedInARowMax = 8;

/// Decides, under the hazard, whether a candidate still wants to move, and moves it.
class mover final : public guides::slot_visitor {
 public:
  mover(migration_protocol& protocol, window_statistics& statistics)
      : protocol_(protocol), statistics_(statistics) {}

  void aim(heap::kind target) noexcept { target_ = target; }

  /// NEW's objects that were to be demoted but have been used since the scan, and since the last
  /// call.
  std::vector<candidate> take_used_again() noexcept { return std::exchange(used_again_, {}); }

  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word seen = slot.load_acquire();
    if (guides::is_null(seen)) return guides::verdict::keep_due;
    const heap::kind from = guides::heap_of(seen);
    std::size_t bytes = 0;
    count(from, attempt(slot, seen, from, bytes), bytes);
    const guides::word now = slot.load_relaxed();
    const bool rests = !guides::is_null(now) && guides::heap_of(now) == heap::kind::cold;
    return rests ? guides::verdict::drop_due : guides::verdict::keep_due;
  }

 private:
  move_result attempt(guides::slot_word& slot, guides::word seen, heap::kind from,
                      std::size_t& bytes) {
    // A full disk refuses the next million objects as well, at a system call each.
    if (is_full_) return move_result::full;
    if (from == target_ && !heap::is_sparse(guides::pointer_of(seen))) return move_result::moot;
    // Used, or replaced, since the scan: cold no longer.
    if (target_ == heap::kind::cold && guides::is_accessed(seen)) {
      if (from == heap::kind::fresh) list(used_again_, {&slot, heap::kind::hot});
      return move_result::vetoed;
    }
    return protocol_.move(slot, seen, target_, bytes);
  }

  void count(heap::kind from, move_result result, std::size_t bytes) noexcept {
    switch (result) {
      case move_result::moved: {
        moves& kind = from == target_               ? statistics_.compacted
                      : target_ == heap::kind::cold ? statistics_.demoted
                                                    : statistics_.promoted;
        ++kind.objects;
        kind.bytes += bytes;
        break;
      }
      case move_result::vetoed:
        ++statistics_.vetoed;
        break;
      case move_result::full:
        ++statistics_.failed;
        is_full_ = target_ == heap::kind::cold;
        break;
      case move_result::moot:
        break;
    }
  }

  migration_protocol& protocol_;
  window_statistics& statistics_;
  heap::kind target_ = heap::kind::hot;
  bool is_full_ = false;  // COLD took no object; the candidates of one call have one target
  std::vector<candidate> used_again_;
};

/// Ends what a protocol's begin() began.
class begun {
 public:
  explicit begun(migration_protocol& protocol) noexcept : protocol_(protocol) {}
  ~begun() { protocol_.end(); }
  begun(const begun&) = delete;
  begun& operator=(const begun&) = delete;

 private:
  migration_protocol& protocol_;
};

bool move_batch(std::span<const candidate> batch, migration_protocol& protocol,
                std::uint64_t epoch_timeout_us, mover& mover, window_statistics& statistics) {
  const sync::moving announced;
  if (!protocol.begin(batch, epoch_timeout_us)) {
    ++statistics.abandoned_epochs;
    return false;
  }
  const begun until_end(protocol);
  for (const auto& [slot, target] : batch) {
    mover.aim(target);
    guides::visit_one(slot, mover);
  }
  return true;
}

}  // namespace

void migrate(std::span<const candidate> candidates, migration_protocol& protocol,
             const migration_limits& limits, const std::function<bool()>& stop,
             window_statistics& statistics) {
  mover mover(protocol, statistics);
  std::size_t batches = 0;
  unsigned abandoned = 0;
  // Left where they are, a few would keep every slab of NEW in memory.
  const auto promote_used_again = [&] {
    const std::vector<candidate> found = mover.take_used_again();
    if (!found.empty()) migrate(found, protocol, limits, stop, statistics);
  };
  while (!candidates.empty() && !stop()) {
    const auto batch = candidates.first(std::min(limits.batch_objects, candidates.size()));
    if (!move_batch(batch, protocol, limits.epoch_timeout_us, mover, statistics)) {
      if (++abandoned == kAbandonedInARowMax) return;
      continue;
    }
    abandoned = 0;
    candidates = candidates.subspan(batch.size());
    if (++batches % kBatchesBetweenTrims == 0) {
      promote_used_again();
      heap::trim();
    }
  }
  promote_used_again();
}

const std::vector<std::string_view>& protocol_names() {
  static const std::vector<std::string_view> names{"veto", "counts"};
  return names;
}

base::result<std::unique_ptr<migration_protocol>> make_protocol(std::string_view name) {
  if (name == "counts") return make_counts_protocol();
  if (name == "veto") return make_veto_protocol();
  return std::unexpected(
      base::error{"unknown migration protocol '" + std::string(name) + "': choose veto or counts"});
}

}  // namespace isotherm::collector
