#include "collector/protocol/veto.hpp"

namespace isotherm::collector {

namespace {

/// Clears the accessed bit of a promotion (a demotion's is clear already), so that the grace period
/// that follows covers every use that the bit stood for.
class clear_accessed final : public guides::slot_visitor {
 public:
  guides::verdict visit(guides::slot_word& slot) override {
    guides::word seen = slot.load_acquire();
    if (!guides::is_null(seen) && guides::is_accessed(seen)) {
      slot.compare_exchange_acq_rel(seen, seen & ~guides::kAccessed);
    }
    return guides::verdict::keep_due;
  }
};

class veto_protocol final : public migration_protocol {
 public:
  std::string_view name() const noexcept override { return "veto"; }
  guides::word_use use_of_words() const noexcept override { return guides::word_use::history; }

  bool begin(std::span<const candidate> batch, sync::patience limit) override {
    clear_accessed clear;
    for (const candidate& one : batch) {
      if (one.target.where == heap::kind::hot) guides::visit_one(one.slot, clear);
    }
    return sync::wait_for_open_scopes(limit);
  }

  move_result move(guides::slot_word& slot, guides::word seen, const void* from, heap::place target,
                   std::size_t& bytes) override {
    // Locked: its node was relocated since the last scan (guide's constructor for relocation).
    if (guides::is_accessed(seen) || guides::is_locked(seen)) return move_result::vetoed;
    return copy_and_commit(slot, seen, from, target, bytes);
  }

  void end() override {}
};

}  // namespace

std::unique_ptr<migration_protocol> make_veto_protocol() {
  return std::make_unique<veto_protocol>();
}

}  // namespace isotherm::collector
