#include "collector/scan.hpp"

namespace isotherm::collector {

void scan_result::clear() noexcept {
  for (auto* list : {&promotions, &demotions, &compactions}) std::vector<candidate>().swap(*list);
  pages.clear();
}

guides::verdict window_scan::age(guides::slot_word& slot, guides::word seen) {
  if (guides::is_null(seen)) return guides::verdict::keep_due;
  if (guides::is_accessed(seen)) record_access(seen);
  const classification outcome = classify(seen, options_.cold_threshold);
  const guides::word next =
      options_.reset_counts ? guides::without_counts(outcome.next) : outcome.next;
  if (next != seen && !slot.compare_exchange_acq_rel(seen, next)) {
    return guides::verdict::keep_due;
  }
  if (options_.collect_candidates) list_candidate(slot, next, outcome);
  // A count that stayed behind is for a later scan to clear, or it would pin until the next use.
  return outcome.rests_in_cold && guides::count_of(next) == 0 ? guides::verdict::drop_due
                                                              : guides::verdict::keep_due;
}

void window_scan::record_access(guides::word w) {
  const void* object = guides::pointer_of(w);
  const std::size_t bytes = heap::object_size(object);  // in the cache's reach: it was used
  if (guides::heap_of(w) == heap::kind::cold) heap::note_cold_use(object);
  ++statistics_.accessed_objects;
  statistics_.accessed_bytes += bytes;
  result_.pages.add(guides::heap_of(w), object, bytes);
}

void window_scan::list_candidate(guides::slot_word& slot, guides::word w,
                                 const classification& outcome) {
  if (outcome.target == heap::kind::hot) {
    list(result_.promotions, {&slot, heap::kind::hot});
  } else if (outcome.target == heap::kind::cold) {
    list(result_.demotions, {&slot, heap::kind::cold});
  } else if (guides::heap_of(w) == heap::kind::hot && heap::is_sparse(guides::pointer_of(w))) {
    list(result_.compactions, {&slot, heap::kind::hot});
  }
}

namespace {

class cold_compaction_search final : public guides::slot_visitor {
 public:
  explicit cold_compaction_search(scan_result& result) : result_(result) {}
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    if (!guides::is_null(w) && guides::heap_of(w) == heap::kind::cold &&
        heap::is_sparse(guides::pointer_of(w))) {
      list(result_.compactions, {&slot, heap::kind::cold});
    }
    return guides::verdict::keep_due;
  }

 private:
  scan_result& result_;
};

}  // namespace

void scan(const scan_options& options, scan_result& result, window_statistics& statistics) {
  result.clear();  // of a window that ended early, for want of memory
  window_scan visitor(options, result, statistics);
  statistics.scanned_guides = guides::visit_due(visitor);
}

void find_cold_compactions(scan_result& result) {
  cold_compaction_search visitor(result);
  guides::visit_registered(visitor);
}

}  // namespace isotherm::collector
