#include "collector/scan.hpp"

#include "base/check.hpp"
#include "heap/object.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

namespace {

/// False for nearly all words that are no guide's.
bool is_word_of_object(guides::word w) noexcept {
  return heap::holds_objects(guides::heap_of(w)) &&
         heap::range_of(guides::heap_of(w)).contains(guides::pointer_of(w));
}

candidate candidate_of(guides::slot_word& slot, heap::kind target, const void* object) noexcept {
  return {&slot, target, static_cast<std::uint32_t>(heap::room_of(object))};
}

}  // namespace

void scan_result::clear() noexcept {
  std::vector<candidate>().swap(candidates);
  pages.clear();
}

guides::verdict window_scan::age(guides::slot_word& slot, guides::word seen) {
  if (guides::is_null(seen)) return guides::verdict::keep_due;
  ISO_CHECK(is_word_of_object(seen),
            "where a guide was made lies something else: its memory went without its destructor");
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
  const void* object = guides::pointer_of(w);
  if (outcome.target) {
    list(result_.candidates, candidate_of(slot, *outcome.target, object));
  } else if (guides::heap_of(w) == heap::kind::hot && heap::is_sparse(object)) {
    list(result_.candidates, candidate_of(slot, heap::kind::hot, object));
  }
}

namespace {

class cold_compaction_search final : public guides::slot_visitor {
 public:
  cold_compaction_search(std::size_t list_bytes, scan_result& result)
      : list_bytes_(list_bytes), result_(result) {}
  bool wants_pause() const noexcept override { return is_full(result_.candidates, list_bytes_); }
  guides::verdict visit(guides::slot_word& slot) override {
    const guides::word w = slot.load_acquire();
    if (!guides::is_null(w) && guides::heap_of(w) == heap::kind::cold &&
        heap::is_sparse(guides::pointer_of(w))) {
      list(result_.candidates, candidate_of(slot, heap::kind::cold, guides::pointer_of(w)));
    }
    return guides::verdict::keep_due;
  }

 private:
  const std::size_t list_bytes_;
  scan_result& result_;
};

}  // namespace

void scan(const scan_options& options, guides::progress& so_far, scan_result& result,
          window_statistics& statistics) {
  result.candidates.clear();
  window_scan visitor(options, result, statistics);
  statistics.scanned_guides += guides::visit_due(visitor, so_far);
}

void find_cold_compactions(std::size_t list_bytes, guides::progress& so_far, scan_result& result) {
  result.candidates.clear();
  cold_compaction_search visitor(list_bytes, result);
  guides::visit_registered(visitor, so_far);
}

}  // namespace isotherm::collector
