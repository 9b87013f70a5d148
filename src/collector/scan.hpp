// The two passes over the due guides at the end of a window: which were used, and what that makes
// of their words; then which objects should move, because what all uses say together decides what a
// single one counts.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "collector/policy/policy.hpp"
#include "collector/protocol.hpp"
#include "collector/statistics.hpp"
#include "collector/touched_pages.hpp"
#include "guide/soda.hpp"
#include "heap/upkeep.hpp"
#include "heap/usage.hpp"

namespace isotherm::collector {

/// What becomes of the active thread counts.
enum class counts_left : std::uint8_t {
  kept,
  cleared  ///< no tracking scope is open: what stayed behind may go
};

/// The candidates' list pauses its pass before it grows beyond this, so that a first demotion of
/// everything needs no list of everything.
inline constexpr std::size_t kListBytes = std::size_t{1} << 20;

/// How much of each extent of HOT lies in the wrong band when a window ends. For one thread.
class hot_order {
 public:
  /// Before a pass over all guides of objects in HOT.
  void begin() {
    extents_.assign(heap::used_extents(heap::kind::hot), {});
    guides_ = 0;
  }
  /// Of an object of HOT, by its aged word; does not touch the object.
  void note(const policy& decides, guides::word w) noexcept;
  /// Those extents that are not in order, as many as a window of so many seconds has time for:
  /// first those from which most comes to its place for what it costs. In groups of which one list
  /// of find_in_order() holds all objects. Time that is left is for the next window, as far as one
  /// extent may need it.
  std::vector<heap::sparse_extents> worst(double seconds);

 private:
  struct sum {
    std::uint64_t misplaced = 0, bytes = 0;  ///< of size classes, `bytes` of all
    std::uint64_t cost = 0;                  ///< of moving all (kMoveCostBytes)
  };
  struct costly_extent {
    double gain;
    std::uint64_t cost;
    std::size_t number;
  };
  std::vector<costly_extent> out_of_order() const;

  std::vector<sum> extents_;
  std::uint64_t guides_ = 0;  // of HOT
  std::uint64_t time_ = 0;    // that is left, as the bytes that could be copied in it
};

/// Counts and notes one guide's uses, and ages its word, in one attempt: a word that changed
/// meanwhile belongs to a warm object, so it is left as it is and stays due for the next window
/// (pitfall 6).
class ageing final : public guides::slot_visitor {
 public:
  ageing(policy& decides, counts_left counts, touched_pages& pages, hot_order& order,
         window_statistics& statistics)
      : policy_(decides), counts_(counts), pages_(pages), order_(order), statistics_(statistics) {}
  guides::verdict visit(guides::slot_word& slot) override { return age(slot, slot.load_acquire()); }
  /// The sizes of used objects are read, and those of all of them for who looks at pages: one after
  /// the other, each would be a wait for memory.
  void expect(guides::word w) const noexcept override;
  /// Replaces `seen`, the word as it was read, by what the window's end makes of it.
  guides::verdict age(guides::slot_word& slot, guides::word seen);

 private:
  void record_use(guides::word w);

  policy& policy_;
  const counts_left counts_;
  touched_pages& pages_;
  hot_order& order_;
  window_statistics& statistics_;
};

/// Completes `seen` with what the pages that were used say.
void measure(const touched_pages& pages, window_statistics& seen);

/// How long a piece of a search for objects takes.
inline constexpr std::chrono::milliseconds kSearchPiece{5};
/// The objects that lie, in part at least, in `where`, in the order of their addresses. Looks at
/// every guide: of the order of 50 ns for each. Waits for no page. Between its pieces it lets go of
/// `alone`, the lock under which `windows` counts, for windows and for whoever looks after memory;
/// nullopt when a window began, or the lock does not come back.
std::optional<std::vector<seen_object>> find_objects(const policy& decides,
                                                     const heap::range& where,
                                                     std::unique_lock<std::timed_mutex>& alone,
                                                     const std::uint64_t& windows);

/// Cuts NEW and HOT into parts by address, of about as many bytes. What moves, moves part by part,
/// so that the extents of one are empty, and given back, before those of the next are copied.
class source_parts {
 public:
  explicit source_parts(std::uint64_t count);
  std::uint64_t count() const noexcept { return count_; }
  /// Whether an object of `where` belongs to part `number`; COLD is in the last as a whole, when
  /// there is room for what comes back.
  bool contains(std::uint64_t number, heap::kind where, const void* object) const noexcept;
  /// Where part `number` of HOT ends; the last has no end.
  std::uintptr_t end_of_hot(std::uint64_t number) const noexcept;

 private:
  std::uint64_t count_;
  heap::per_kind<std::vector<std::uintptr_t>> ends_;  // of all parts but the last, ascending
};

/// Lists, from `so_far` on until the list is full, the objects in `part` that should move; of COLD
/// no more than `promotable_bytes`. `candidates` holds this call's findings only.
void choose(policy& decides, const source_parts& parts, std::uint64_t part,
            std::uint64_t promotable_bytes, guides::progress& so_far,
            std::vector<candidate>& candidates, std::size_t list_bytes = kListBytes);

/// Between the ends of windows: lists the objects that were used in COLD and should be in HOT
/// before their pages leave DRAM again, as far as `promotable_bytes` allow.
void choose_returning(policy& decides, std::uint64_t promotable_bytes, guides::progress& so_far,
                      std::vector<candidate>& candidates);

/// For words that mean something else from now on: clears the histories of all guides.
void clear_histories();

/// Lists, from `so_far` on as above, guides of HOT objects in `extents`.
void find_hot_compactions(const policy& decides, const heap::sparse_extents& extents,
                          guides::progress& so_far, std::vector<candidate>& candidates);

/// Lists guides of objects in `extents`, from `so_far` on as above, in the order of their
/// addresses. Of COLD it visits every guide: for when much of it is dead.
void find_in_order(const policy& decides, const heap::sparse_extents& extents,
                   guides::progress& so_far, std::vector<candidate>& candidates);

}  // namespace isotherm::collector
