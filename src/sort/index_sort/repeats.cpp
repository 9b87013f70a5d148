#include "sort/index_sort/repeats.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "os/thread_pool.hpp"

namespace isotherm::sort {
namespace {

constexpr std::size_t kBlock = 1 << 14;       // records that are looked at together
constexpr std::size_t kBlocksOnTrial = 4;     // before few repeats end the search
constexpr std::size_t kSlots = 1 << 13;       // of a thread's table
constexpr std::size_t kProbes = 4;            // slots that may hold a key
constexpr std::size_t kLongestKey = 4096;     // bytes; longer ones are left to the sort
constexpr std::size_t kPrefetchBytes = 1024;  // of the text ahead

}  // namespace

bool repeats::possible() const noexcept {
  const bool in_memory = ctx_.input.mapped() != nullptr || ctx_.input.holds_piece();
  const bool made = ctx_.job.options.format == record_format::lines && ctx_.layout.order().made();
  return in_memory && !made && ctx_.job.emulation == nullptr && ctx_.layout.often_undecided();
}

/// The thread that has the keys of this hash.
unsigned repeats::owner_of(std::uint32_t hash) const noexcept {
  return static_cast<unsigned>((std::uint64_t{hash} * tables_.size()) >> 32);
}

/// Finds the keys of a block, with all threads. Returns how many records are in memory before the
/// first that is not.
std::size_t repeats::find_keys(std::span<const entry> block) {
  const auto threads = static_cast<unsigned>(tables_.size());
  std::vector<std::size_t> found(threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    source_view view(ctx_.job, ctx_.input);
    const auto [begin, end] = os::part_of(block.size(), threads, t);
    std::size_t i = begin;
    for (; i < end; ++i) {
      const extent record = ctx_.layout.locate(block[i], view);
      const std::byte* const first = view.at_hand(record.offset, record.bytes);
      if (first == nullptr) break;
      __builtin_prefetch(first + kPrefetchBytes);
      const auto key = ctx_.layout.key_in({first, record.bytes});
      keys_[i] = {};
      if (key.size() > kLongestKey) continue;
      keys_[i] = {key.data(), static_cast<std::uint32_t>(key.size()),
                  static_cast<std::uint32_t>(XXH3_64bits(key.data(), key.size()))};
    }
    found[t] = i;
  });
  for (unsigned t = 0; t < threads; ++t) {
    if (found[t] != os::part_of(block.size(), threads, t).second) return found[t];
  }
  return block.size();
}

/// Drops from a block the entries of keys in the table of `owner`, and adds keys to it. Returns how
/// many it has dropped.
std::size_t repeats::drop_own(std::span<entry> block, unsigned owner) {
  const entry_layout& l = ctx_.layout.entries();
  std::vector<slot>& table = tables_[owner];
  std::size_t dropped = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const key_at& key = keys_[i];
    if (key.first == nullptr || owner_of(key.hash) != owner) continue;
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
      slot& s = table[(key.hash + probe) % kSlots];
      if (s.first == nullptr) {
        s = {key.first, key.bytes, l.pointer(block[i]), 0};
        break;
      }
      if (s.bytes != key.bytes || std::memcmp(s.first, key.first, key.bytes) != 0) continue;
      ++s.taken;
      block[i] = l.drop(block[i]);
      ++dropped;
      break;
    }
  }
  return dropped;
}

std::size_t repeats::drop_repeats(std::span<entry> block) {
  const auto threads = static_cast<unsigned>(tables_.size());
  std::vector<std::size_t> dropped(threads);
  ctx_.job.readers.run(threads, [&](unsigned t) { dropped[t] = drop_own(block, t); });
  return std::accumulate(dropped.begin(), dropped.end(), std::size_t{0});
}

std::size_t repeats::take_out(std::span<entry> entries) {
  keys_.resize(kBlock);
  tables_.assign(ctx_.plan.sort_threads, std::vector<slot>(kSlots));
  std::size_t all_dropped = 0;
  std::size_t at = 0;
  for (std::size_t n = 0; at + kBlock <= entries.size() && !ctx_.job.stopped(); ++n) {
    const std::span<entry> block = entries.subspan(at, kBlock);
    const std::size_t known = find_keys(block);
    const std::size_t dropped = drop_repeats(block.first(known));
    all_dropped += dropped;
    at += known;
    if (known < kBlock || (n + 1 >= kBlocksOnTrial && dropped < kBlock / 2)) break;
  }
  keys_ = {};
  if (all_dropped == 0) return entries.size();
  const auto searched = entries.first(at);
  const auto kept = std::remove_if(searched.begin(), searched.end(),
                                   [&](entry e) { return ctx_.layout.entries().dropped(e); });
  const auto left = std::move(searched.end(), entries.end(), kept);
  return static_cast<std::size_t>(left - entries.begin());
}

void repeats::put_back(std::span<entry> entries, std::size_t left) {
  if (left == entries.size()) return;
  const entry_layout& l = ctx_.layout.entries();
  using counted = std::pair<std::uint64_t, std::uint64_t>;  // pointer of the first, entries taken
  std::vector<counted> taken;
  for (auto& table : tables_) {
    for (const slot& s : table) {
      if (s.taken != 0) taken.emplace_back(s.pointer, s.taken);
    }
    table = {};
  }
  std::ranges::sort(taken);
  for (std::size_t end = entries.size(); left > 0; --left) {
    const entry e = entries[left - 1];
    const auto found = std::ranges::lower_bound(taken, l.pointer(e), {}, &counted::first);
    if (found != taken.end() && found->first == l.pointer(e)) {
      const auto first = entries.begin() + static_cast<std::ptrdiff_t>(end - found->second);
      std::fill_n(first, found->second, l.drop(e));
      end -= found->second;
    }
    entries[--end] = e;
  }
}

}  // namespace isotherm::sort
