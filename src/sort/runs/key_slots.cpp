#include "sort/runs/key_slots.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/stream.hpp"
#include "os/thread_pool.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kReferenceBytes = 4096;
constexpr std::uint64_t kPiece = 1024;     // bytes of a key compared with the reference at a time
constexpr std::uint64_t kLineAhead = 512;  // bytes fetched of a line: its field and what follows
constexpr std::uint64_t kMostAhead = 128 << 10;
constexpr std::uint64_t kLieClose = 512;  // mean bytes between records; one read then serves many
constexpr std::size_t kEntriesPerThread = 64;
/// What the first and the second slot of an entry are for.
constexpr std::array parts{compared::key, compared::line};
constexpr std::size_t kAskEntries = 256;  // entries between two checks whether the sort was stopped

}  // namespace

key_slots::key_slots(const context& ctx, sort_stage stage)
    : ctx_(ctx), stage_(stage), view_(ctx.job, ctx.input) {}

void key_slots::refer_to(entry e) {
  ++generation_;
  missed_ = 0;
  for (std::size_t i = 0; i < per_entry(); ++i) {
    const record_key key = ctx_.layout.key(e, parts[i], view_);
    const std::uint64_t n = std::min(key.size(), kReferenceBytes);
    const std::byte* bytes = n == 0 ? nullptr : key.bytes(view_, 0, n);
    references_[i].assign(bytes, bytes == nullptr ? bytes : bytes + n);
  }
}

key_slot key_slots::slot_of(entry e, compared by, source_view& view) const {
  const record_key key = ctx_.layout.key(e, by, view);
  const auto& reference = references_[static_cast<unsigned>(by)];
  const std::uint64_t most = std::min<std::uint64_t>(key.size(), reference.size());
  std::uint64_t common = 0;
  while (common < most) {
    const std::uint64_t n = std::min(most - common, kPiece);
    const std::byte* bytes = key.bytes(view, common, n);
    if (bytes == nullptr) return {};
    const auto differ =
        std::mismatch(bytes, bytes + n, reference.begin() + static_cast<std::ptrdiff_t>(common));
    common += static_cast<std::uint64_t>(differ.first - bytes);
    if (differ.first != bytes + n) break;
  }
  key_slot slot;
  slot.common = static_cast<std::uint16_t>(common);
  slot.bytes = static_cast<std::uint8_t>(std::min(key.size() - common, sizeof slot.next));
  slot.whole = common + slot.bytes == key.size();
  if (slot.bytes > 0) {
    const std::byte* bytes = key.bytes(view, common, slot.bytes);
    if (bytes == nullptr) return {};
    std::memcpy(slot.next, bytes, slot.bytes);
  }
  slot.below = slot.bytes == 0 || (common < reference.size() && slot.next[0] < reference[common]);
  return slot;
}

void key_slots::load(std::span<const entry> entries, std::span<key_slot> slots) {
  const auto threads = static_cast<unsigned>(
      std::clamp<std::size_t>(entries.size() / kEntriesPerThread, 1, ctx_.plan.random_threads));
  const std::size_t each = per_entry();
  const std::uint64_t least_ahead = ctx_.job.options.format == record_format::lines
                                        ? kLineAhead
                                        : std::min(ctx_.layout.key_bytes(), kPiece);
  const device::stream_group group(ctx_.job.emulation, device::access::random_read, threads);
  ctx_.job.readers.run(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(entries.size(), threads, t);
    std::uint64_t ahead = least_ahead;
    if (ctx_.input.regrouped() && begin < end) {
      const std::uint64_t reach = ctx_.layout.reach(entries[begin], entries[end - 1]);
      if (reach / (end - begin) <= kLieClose) ahead = std::clamp(reach, least_ahead, kMostAhead);
    }
    source_view view(ctx_.job, ctx_.input, ahead);
    device::stream stream(group);
    std::uint64_t used = 0;
    for (std::uint64_t i = begin; i < end; ++i) {
      if (i % kAskEntries == 0 && ctx_.job.stopped()) return;
      if (!ctx_.layout.undecided(entries[i])) continue;
      for (std::size_t s = 0; s < each; ++s) {
        const key_slot slot = slot_of(entries[i], parts[s], view);
        used += slot.common + slot.bytes;
        slots[i * each + s] = slot;
      }
    }
    if (begin < end) stream.touched(end - begin, std::max<std::uint64_t>(1, used / (end - begin)));
    const bool calls = ctx_.job.emulation == nullptr && !view.mapped();
    ctx_.job.count(stage_, calls ? view.fetched() : used, 0);
  });
}

int key_slots::order(entry a, const key_slot& x, entry b, const key_slot& y, compared by) {
  int order = 0;
  if (x.common != y.common) {
    order = x.common < y.common ? (x.below ? -1 : 1) : (y.below ? 1 : -1);
  } else {
    const std::size_t n = std::min(x.bytes, y.bytes);
    order = std::memcmp(x.next, y.next, n);
    if (order == 0 && !x.whole && !y.whole) {
      ++missed_;
      return ctx_.layout.compare_keys(a, b, by, view_, x.common + n);
    }
    // A key that is a prefix of others goes before them.
    if (order == 0) order = x.bytes != y.bytes ? x.bytes - y.bytes : y.whole - x.whole;
  }
  return ctx_.layout.entries().reverse ? -order : order;
}

int key_slots::compare(entry a, const key_slot* of_a, entry b, const key_slot* of_b) {
  int o = order(a, of_a[0], b, of_b[0], compared::key);
  if (o == 0 && per_entry() > 1) o = order(a, of_a[1], b, of_b[1], compared::line);
  if (o != 0) return o;
  return a < b ? -1 : a > b;
}

const std::vector<bool>& equal_keys::find(std::span<const entry> sorted) {
  const auto& l = layout_.entries();
  same_.assign(sorted.size(), false);
  wanted_.clear();
  undecided_.clear();
  slot_of_.clear();
  std::size_t held = sorted.size();  // entry whose slot comes last in wanted_; none yet
  for (std::size_t i = any_ ? 0 : 1; i < sorted.size(); ++i) {
    const entry before = i > 0 ? sorted[i - 1] : last_;
    if (l.key(before) != l.key(sorted[i])) continue;
    same_[i] = true;
    if (!layout_.undecided(sorted[i])) continue;
    if (i == 0 || held != i - 1) wanted_.push_back(before);
    wanted_.push_back(sorted[i]);
    held = i;
    undecided_.push_back(i);
    slot_of_.push_back(wanted_.size() - 1);
  }
  if (!sorted.empty()) {
    last_ = sorted.back();
    any_ = true;
  }
  if (wanted_.empty()) return same_;
  slots_.resize(wanted_.size() * keys_.per_entry());
  keys_.refer_to(wanted_.front());
  keys_.load(wanted_, slots_);
  for (std::size_t k = 0; k < undecided_.size(); ++k) {
    const std::size_t at = slot_of_[k];
    const std::size_t each = keys_.per_entry();
    same_[undecided_[k]] =
        keys_.same_key(wanted_[at - 1], slots_[(at - 1) * each], wanted_[at], slots_[at * each]);
  }
  return same_;
}

}  // namespace isotherm::sort
