#include "collector/protocol/counts.hpp"

#include "guide/guide.hpp"
#include "sync/epoch.hpp"

namespace isotherm::collector {

namespace {

class counts_protocol final : public migration_protocol {
 public:
  std::string_view name() const noexcept override { return "counts"; }
  guides::word_use use_of_words() const noexcept override { return guides::word_use::counts; }

  bool begin(std::span<const candidate>, sync::patience limit) override {
    guides::use_words_for(use_of_words());  // before any scope counts
    return sync::begin_migration_epoch(limit);
  }

  move_result move(guides::slot_word& slot, guides::word seen, const void* from, heap::place target,
                   std::size_t& bytes) override {
    if (guides::count_of(seen) != 0 || guides::is_locked(seen)) return move_result::vetoed;
    const guides::word locked = guides::locked(seen);
    // Acquire: pairs with the release of the last count taken back; the owner's writes are seen.
    if (!slot.compare_exchange_acq_rel(seen, locked)) return move_result::vetoed;
    const move_result result = copy_and_commit(slot, locked, from, target, bytes);
    if (result != move_result::moved) unlock(slot);
    return result;
  }

  void end() override { sync::end_migration_epoch(); }

 private:
  static void unlock(guides::slot_word& slot) noexcept {
    guides::word seen = slot.load_relaxed();
    while (guides::is_locked(seen) &&
           !slot.compare_exchange_weak_acq_rel(seen, guides::unlocked(seen))) {
    }
  }
};

}  // namespace

std::unique_ptr<migration_protocol> make_counts_protocol() {
  return std::make_unique<counts_protocol>();
}

}  // namespace isotherm::collector
