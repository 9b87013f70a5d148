// Multikey sort by parts. In a group of entries whose keys are equal so far, the prefix that all
// keys share is skipped, the next key bytes replace the equal ones, and the entries are sorted as
// integers again; likewise for those that are still equal. All threads share the work on a large
// group, so that lines with a long common beginning are sorted as fast as others; smaller groups
// are distributed among the threads.
#include "sort/index_sort/refine.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/atomic.hpp"
#include "base/page.hpp"
#include "os/thread_pool.hpp"
#include "sort/index_sort/repeats.hpp"
#include "sort/input/sort_entries.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kLarge = 1 << 15;  // entries of a group that all threads sort together
constexpr std::size_t kFew = 12;  // entries of a group that are compared with each other, in memory
constexpr std::size_t kWorthVectors = 128;
constexpr std::size_t kSharedPiece = 4096;
constexpr unsigned kMostSplits = 16;
constexpr unsigned kPartsPerThread = 16;   // of the work that is distributed
constexpr std::size_t kAskEntries = 1024;  // entries between two checks whether the sort was
                                           // stopped
constexpr std::size_t kAheadBytes = 256 << 10;
constexpr std::size_t kPrefetchAhead = 16;

/// Entries that agree in the first `depth` bytes of their keys, or of their whole lines.
struct group {
  std::span<entry> entries;
  std::uint64_t depth = 0;
  compared by = compared::key;
  unsigned splits = 0;  // how often it was split off from a larger group
};

class refinement {
 public:
  refinement(const context& ctx, equal_keys equal)
      : ctx_(ctx),
        threads_(ctx.plan.sort_threads),
        drops_(equal != equal_keys::stay),
        l_(ctx.layout.entries()) {}

  /// Completes the order of entries that are sorted by the key bytes from the group's depth on.
  void order(const group& sorted);

 private:
  bool lines() const noexcept { return ctx_.job.options.format == record_format::lines; }
  /// How many key bytes an entry has room for.
  std::uint64_t step() const noexcept { return l_.key_bytes - (lines() ? 1u : 0u); }
  std::size_t end_of_equal(std::span<const entry> sorted, std::size_t begin) const;
  bool ends(entry part, const group& g) const;
  bool deeper(const group& above, std::span<entry> equal, group& next) const;
  void settle(const group& above, std::span<entry> equal, source_view& view) const;
  void split(group g, source_view& view) const;
  void split_by_all(group& g);
  void compare(const group& g, source_view& view) const;
  std::vector<std::byte> next_bytes(const group& g, source_view& view) const;
  std::size_t shared_bytes(const group& g, std::span<const entry> some,
                           std::span<const std::byte> first, source_view& view) const;
  void take_parts(const group& g, std::span<entry> some, source_view& view) const;
  std::size_t worth_reading_ahead(std::span<const entry> some) const noexcept;
  bool may_share(const group& g) const noexcept {
    return lines() || g.depth + step() < ctx_.layout.key_bytes();
  }
  void prefetch(std::span<const entry> some, std::size_t i, std::uint64_t depth) const noexcept;
  template <class Work>
  void by_all(std::span<entry> all, const Work& work);

  const context ctx_;
  const unsigned threads_;
  const bool drops_;  // all but the first of equal keys
  const entry_layout& l_;
};

std::size_t refinement::end_of_equal(std::span<const entry> sorted, std::size_t begin) const {
  const entry key = l_.key(sorted[begin]);
  std::size_t end = begin + 1;
  while (end < sorted.size() && l_.key(sorted[end]) == key) ++end;
  return end;
}

/// Whether `part`, the key bytes from the depth of `g` on, reaches the end of the key.
bool refinement::ends(entry part, const group& g) const {
  if (!lines()) return ctx_.layout.key_bytes() <= g.depth + step();
  const entry plain = l_.reverse ? ~part : part;
  return static_cast<unsigned char>(plain >> l_.pointer_bits()) <= step();
}

/// Sets `next` to the bytes to compare next for entries whose parts are equal; false if none are
/// left, so that their keys are equal.
bool refinement::deeper(const group& above, std::span<entry> equal, group& next) const {
  next = {equal, above.depth + step(), above.by, above.splits + 1};
  if (!ends(equal.front(), above)) return true;
  next.depth = 0;
  next.by = compared::line;
  return ctx_.layout.ties_by_line() && above.by == compared::key;
}

/// Calls `work(some, view)` for even parts of `all`, with all threads.
template <class Work>
void refinement::by_all(std::span<entry> all, const Work& work) {
  ctx_.job.readers.run(threads_, [&](unsigned t) {
    const auto [begin, end] = os::part_of(all.size(), threads_, t);
    const auto some = all.subspan(begin, end - begin);
    if (some.empty()) return;
    source_view view(ctx_.job, ctx_.input, worth_reading_ahead(some));
    work(some, view);
    ctx_.job.count(sort_stage::run_sort, view.fetched(), 0);
  });
}

void refinement::order(const group& sorted) {
  const std::span<entry> all = sorted.entries;
  const auto same = [&](std::size_t i) {
    const auto less = [&](entry a, entry b) { return l_.key(a) < l_.key(b); };
    return std::equal_range(all.begin(), all.end(), all[i], less);
  };
  // The step is kLarge, so that no group of at least that size is missed.
  for (std::size_t i = 0; i < all.size() && !ctx_.job.stopped();) {
    const auto [first, last] = same(i);
    const std::span<entry> equal(first, last);
    group next;
    if (equal.size() >= kLarge && deeper(sorted, equal, next)) {
      const entry key = l_.key(equal.front());
      split_by_all(next);
      order(next);
      by_all(equal, [&](std::span<entry> some, source_view&) {
        for (entry& e : some) e = key | l_.pointer(e);
      });
    }
    i = std::max(i + kLarge, static_cast<std::size_t>(last - all.begin()));
  }
  const unsigned parts = threads_ * kPartsPerThread;
  std::vector<std::size_t> bounds{0};  // of parts; none divides a group
  for (unsigned i = 0; i < parts && !all.empty(); ++i) {
    const std::size_t at = os::part_of(all.size(), parts, i).second;
    bounds.push_back(at == 0 ? 0 : static_cast<std::size_t>(same(at - 1).second - all.begin()));
  }
  base::atomic<unsigned> next_part{1};
  ctx_.job.readers.run(threads_, [&](unsigned) {
    source_view view(ctx_.job, ctx_.input);
    for (std::size_t i; (i = next_part.fetch_add_relaxed(1)) < bounds.size();) {
      // Entries behind the end of this part are changed by other threads.
      const std::span<const entry> part = all.first(bounds[i]);
      for (std::size_t at = bounds[i - 1]; at < part.size() && !ctx_.job.stopped();) {
        const std::size_t end = end_of_equal(part, at);
        group next;
        const auto equal = all.subspan(at, end - at);
        at = end;
        if (equal.size() >= kLarge && deeper(sorted, equal, next)) continue;  // in order already
        if (equal.size() > 1) settle(sorted, equal, view);
      }
    }
    ctx_.job.count(sort_stage::run_sort, view.fetched(), 0);
  });
}

/// Puts entries with equal parts in order.
void refinement::settle(const group& above, std::span<entry> equal, source_view& view) const {
  group next;
  if (deeper(above, equal, next)) {
    const entry key = l_.key(equal.front());
    split(next, view);
    for (entry& e : equal) e = key | l_.pointer(e);
  } else if (drops_) {
    for (entry& e : equal.subspan(1)) e = l_.drop(e);
  }
}

/// Puts a group in order. Turns off read-ahead of `view`: keys in their order lie anywhere.
void refinement::split(group g, source_view& view) const {
  const std::size_t few = view.in_memory() ? kFew : 2;
  if (g.entries.size() <= few || g.splits > kMostSplits) return compare(g, view);
  view.read_ahead(worth_reading_ahead(g.entries));
  for (std::size_t n = kSharedPiece; n == kSharedPiece && may_share(g); g.depth += n) {
    n = shared_bytes(g, g.entries, next_bytes(g, view), view);
  }
  take_parts(g, g.entries, view);
  view.read_ahead(0);
  if (view.stopped()) return;
  if (g.entries.size() < kWorthVectors) {
    std::sort(g.entries.begin(), g.entries.end());
  } else {
    sort_entries(g.entries);
  }
  std::size_t asked = 0;
  for (std::size_t begin = 0; begin < g.entries.size();) {
    const std::size_t end = end_of_equal(g.entries, begin);
    if (end - begin > 1) settle(g, g.entries.subspan(begin, end - begin), view);
    if (++asked % kAskEntries == 0 && view.stopped()) return;
    begin = end;
  }
}

/// Orders a large group with all threads, as split() does with one, but settles no equal parts.
void refinement::split_by_all(group& g) {
  for (std::size_t n = kSharedPiece; n == kSharedPiece && may_share(g); g.depth += n) {
    source_view view(ctx_.job, ctx_.input);
    const std::vector<std::byte> first = next_bytes(g, view);
    std::mutex lock;  // guards n
    by_all(g.entries, [&](std::span<entry> some, source_view& mine) {
      const std::size_t shared = shared_bytes(g, some, first, mine);
      const std::lock_guard guard(lock);
      n = std::min(n, shared);
    });
  }
  by_all(g.entries, [&](std::span<entry> some, source_view& view) { take_parts(g, some, view); });
  if (!ctx_.job.stopped()) sort_entries(g.entries, ctx_.job.readers, threads_);
}

/// Sorts by comparisons a group that is small or has been split many times. Each split looks up its
/// place in the key anew, so that keys of which each is a prefix of the next would cost the square
/// of their length. A heap is used because after a failed read comparisons contradict each other,
/// and std::sort could then leave its range. When the sort is stopped, what is left of the heap is
/// ordered by pointers, without reads.
void refinement::compare(const group& g, source_view& view) const {
  bool stopped = false;
  std::size_t comparisons = 0;
  const auto order = [&](entry a, entry b) {
    if (++comparisons % kAskEntries == 0) stopped = stopped || view.stopped();
    int o = stopped ? 0 : ctx_.layout.compare_keys(a, b, g.by, view, g.depth);
    if (o == 0 && !stopped && ctx_.layout.ties_by_line() && g.by == compared::key) {
      o = ctx_.layout.compare_keys(a, b, compared::line, view);
    }
    return o;
  };
  const auto less = [&](entry a, entry b) {
    const int o = order(a, b);
    return o != 0 ? o < 0 : l_.pointer(a) < l_.pointer(b);
  };
  std::partial_sort(g.entries.begin(), g.entries.end(), g.entries.end(), less);
  if (!drops_) return;
  for (std::size_t kept = 0, i = 1; i < g.entries.size(); ++i) {
    if (order(g.entries[kept], g.entries[i]) == 0) {
      g.entries[i] = l_.drop(g.entries[i]);
    } else {
      kept = i;
    }
  }
}

/// The bytes of the first entry's key from the group's depth on, up to one piece.
std::vector<std::byte> refinement::next_bytes(const group& g, source_view& view) const {
  const record_key key = ctx_.layout.key(g.entries.front(), g.by, view);
  const std::size_t n = std::min(kSharedPiece, key.size() - std::min(key.size(), g.depth));
  const std::byte* bytes = n == 0 ? nullptr : key.bytes(view, g.depth, n);
  if (bytes == nullptr) return {};
  return {bytes, bytes + n};
}

/// How many of the bytes `first` all keys have at the group's depth.
std::size_t refinement::shared_bytes(const group& g, std::span<const entry> some,
                                     std::span<const std::byte> first, source_view& view) const {
  std::size_t shared = first.size();
  for (std::size_t i = 0; i < some.size() && shared > 0; ++i) {
    if (i % kAskEntries == 0 && view.stopped()) return 0;
    prefetch(some, i, g.depth);
    const record_key key = ctx_.layout.key(some[i], g.by, view);
    shared = std::min(shared, key.size() - std::min(key.size(), g.depth));
    if (shared == 0) return 0;
    const std::byte* bytes = key.bytes(view, g.depth, shared);
    if (bytes == nullptr) return 0;
    shared = common_prefix(bytes, first.data(), shared);
  }
  return shared;
}

/// Replaces the key bytes in the entries by those at the group's depth.
void refinement::take_parts(const group& g, std::span<entry> some, source_view& view) const {
  for (std::size_t i = 0; i < some.size(); ++i) {
    if (i % kAskEntries == 0 && view.stopped()) return;
    prefetch(some, i, g.depth);
    const record_key key = ctx_.layout.key(some[i], g.by, view);
    const std::uint64_t left = key.size() - std::min(key.size(), g.depth);
    const std::size_t n = std::min(left, step());
    const std::byte* bytes = n == 0 ? nullptr : key.bytes(view, g.depth, n);
    entry high = bytes == nullptr ? 0 : load_key(bytes, n);
    if (lines()) high |= entry{std::min<std::uint64_t>(left, step() + 1)} << l_.pointer_bits();
    some[i] = l_.make(high, l_.pointer(some[i]));
  }
}

void refinement::prefetch(std::span<const entry> some, std::size_t i,
                          std::uint64_t depth) const noexcept {
  if (i + kPrefetchAhead >= some.size()) return;
  const std::uint64_t pointer = l_.pointer(some[i + kPrefetchAhead]);
  const std::uint64_t record = ctx_.layout.fixed()
                                   ? pointer * ctx_.layout.record_bytes() + ctx_.layout.key_offset()
                                   : pointer >> kLengthBits;
  if (const std::byte* p = ctx_.input.at_hand(record, 1)) __builtin_prefetch(p + depth);
}

/// Bytes to read ahead for entries in input order, as those of a group are at first. If their
/// records lie close together, as lines with a common beginning do, one long read serves many of
/// them; a read moves at least a page anyway.
std::size_t refinement::worth_reading_ahead(std::span<const entry> some) const noexcept {
  const auto offset = [&](entry e) {
    return ctx_.layout.fixed() ? l_.pointer(e) * ctx_.layout.record_bytes()
                               : l_.pointer(e) >> kLengthBits;
  };
  const std::uint64_t first = offset(some.front());
  const std::uint64_t last = offset(some.back());
  return last >= first && (last - first) / some.size() < base::kPageBytes ? kAheadBytes : 0;
}

}  // namespace

std::size_t sort_run(const context& ctx, std::span<entry> entries, equal_keys equal) {
  const stage_timer timer(ctx.job, sort_stage::run_sort);
  repeats found(ctx);
  const bool once = equal != equal_keys::stay;
  const std::size_t n = once && found.possible() ? found.take_out(entries) : entries.size();
  const std::span<entry> sorted = entries.first(n);
  sort_entries(sorted, ctx.job.readers, ctx.plan.sort_threads);
  if (!ctx.layout.often_undecided() && !once) return n;
  refinement(ctx, equal).order({sorted});
  if (equal == equal_keys::dropped) found.put_back(entries, n);
  if (equal != equal_keys::removed) return entries.size();
  const auto kept = std::remove_if(sorted.begin(), sorted.end(),
                                   [&](entry e) { return ctx.layout.entries().dropped(e); });
  return static_cast<std::size_t>(kept - sorted.begin());
}

}  // namespace isotherm::sort
