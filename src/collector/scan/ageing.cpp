#include "collector/scan/ageing.hpp"

#include "base/check.hpp"
#include "base/page.hpp"
#include "collector/policy/page_out.hpp"
#include "collector/policy/threshold.hpp"
#include "collector/scan/candidates.hpp"
#include "guide/guide.hpp"
#include "heap/cold/arrived_reads.hpp"
#include "heap/object.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

namespace {

/// False for nearly all words that are no guide's.
bool is_word_of_object(guides::word w) noexcept {
  return heap::holds_objects(guides::heap_of(w)) &&
         heap::range_of(guides::heap_of(w)).contains(guides::pointer_of(w));
}

class clearing final : public guides::slot_visitor {
 public:
  guides::verdict visit(guides::slot_word& slot) override {
    guides::word seen = slot.load_relaxed();
    while (guides::history_of(seen) != 0 &&
           !slot.compare_exchange_weak_acq_rel(seen, guides::with_history(seen, 0))) {
    }
    return guides::verdict::keep_due;
  }
};

}  // namespace

guides::verdict ageing::age(guides::slot_word& slot, guides::word seen) {
  if (guides::is_null(seen)) return guides::verdict::keep_due;
  ISO_CHECK(is_word_of_object(seen),
            "where a guide was made lies something else: its memory went without its destructor");
  const bool was_used = guides::is_accessed(seen);
  if (was_used) record_use(seen);
  // Copies are never in flight during a scan: a lock is that of a relocated guide, which may move
  // again.
  const guides::word aged = guides::unlocked(policy_.age(seen));
  const guides::word next = counts_ == counts_left::cleared ? guides::without_counts(aged) : aged;
  if (page_uses* const uses = pages_.uses()) {
    uses->add_rate(next, heap::room_of(guides::pointer_of(next)), policy_.rate_now(next));
  }
  if (guides::heap_of(next) == heap::kind::hot) order_.note(policy_, next);
  if (next != seen && !slot.compare_exchange_acq_rel(seen, next)) {
    return guides::verdict::keep_due;
  }
  // An object that was used in COLD has to be chosen yet.
  return was_used ? guides::verdict::keep_due : verdict_of(next);
}

void ageing::expect(guides::word w) const noexcept {
  if (guides::is_null(w) || !(guides::is_accessed(w) || pages_.uses())) return;
  if (guides::heap_of(w) != heap::kind::cold) heap::fetch_size(guides::pointer_of(w));
}

void ageing::record_use(guides::word w) {
  const void* object = guides::pointer_of(w);
  // An object of COLD may have left DRAM since: its size is read without a touch of it.
  const bool is_cold = guides::heap_of(w) == heap::kind::cold;
  const std::size_t bytes = is_cold ? heap::room_of(object) : heap::object_size(object);
  ++statistics_.accessed_objects;
  statistics_.accessed_bytes += bytes;
  statistics_.accessed_cold_objects += is_cold;
  // In a mapped COLD a use in its place brings the page back and clears the mark
  // (cold_extents::note_use).
  const bool is_past = is_cold && heap::is_out(object);
  if (is_past) statistics_.read_past_bytes += bytes;
  pages_.add(guides::heap_of(w), object, bytes,
             is_past ? usage_path::read_past : usage_path::in_place);
  statistics_.read_past_pages = pages_.count_read_past();
}

void measure(const touched_pages& pages, window_statistics& seen) {
  seen.accessed_pages = seen.working_set_pages = pages.count();
  seen.accessed_cold_pages += pages.count(heap::kind::cold);
  seen.page_utilization = page_utilization_of(seen);
  seen.promotion_rate =
      promotion_rate(seen.accessed_cold_pages, seen.working_set_pages, seen.window_seconds);
  const std::uint64_t cold_bytes = heap::packing_of(heap::kind::cold).used_bytes;
  seen.cold_rest_seconds = mean_rest_seconds(cold_bytes / base::kPageBytes,
                                             seen.accessed_cold_pages, seen.window_seconds);
}

void clear_histories() {
  clearing visitor;
  guides::visit_registered(visitor);
}

}  // namespace isotherm::collector
