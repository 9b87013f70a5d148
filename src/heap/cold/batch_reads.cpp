#include "heap/cold/batch_reads.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <span>

#include "heap/cold/arrived_reads.hpp"
#include "heap/ranges.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

/// Pages side by side are one read up to here; an object that is larger is one.
constexpr std::uint64_t kReadTogether = kExtentBytes;

const extent_table& cold_table() noexcept { return heaps().packed(kind::cold).extents(); }

}  // namespace

void batch_reads::add(const void* object) noexcept try {
  if (is_out(object)) wanted_.emplace_back(object);
} catch (const std::bad_alloc&) {
  return;
}

void batch_reads::run() noexcept {
  std::ranges::sort(wanted_, {}, [](const miss& one) { return one.where().offset; });
  try {
    if (cold_table().is_logged()) {
      make_parts();
      read_parts();
      for (const auto& each : parts_) {
        if (each->error != 0) read_apart(*each);
      }
      return;
    }
    for (const miss& each : wanted_) {
      static_cast<void>(os::advise(cold_table().begin() + each.where().offset, each.where().bytes,
                                   os::advice::populate));
    }
  } catch (const std::bad_alloc&) {
    parts_.clear();  // nothing of it is under way
  }
}

void batch_reads::make_parts() {
  for (const miss& each : wanted_) {
    const base::page_span& pages = each.where();
    part* const last = parts_.empty() ? nullptr : parts_.back().get();
    if (last != nullptr && pages.offset <= last->offset + last->bytes) {
      const std::uint64_t end = std::max(last->offset + last->bytes, pages.offset + pages.bytes);
      if (end - last->offset <= std::max<std::uint64_t>(kReadTogether, last->bytes)) {
        last->bytes = end - last->offset;
        continue;
      }
    }
    parts_.push_back(std::make_unique<part>());
    parts_.back()->offset = pages.offset;
    parts_.back()->bytes = pages.bytes;
  }
  for (const auto& each : parts_) {
    each->memory.reset(static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, each->bytes)));
    if (each->memory == nullptr) throw std::bad_alloc();
    each->to = each->memory.get();
  }
}

void batch_reads::read_parts() {
  if (parts_.empty()) return;
  const backing& pages = cold_table().pages();
  if (queue_ == nullptr) {
    auto opened = os::read_queue::open(*pages.file(), os::read_queue::engine::best);
    if (opened) queue_ = std::move(*opened);
  }
  if (queue_ == nullptr) {  // no descriptors or threads are left
    for (const auto& each : parts_) {
      const auto done = pages.read({each->to, each->bytes}, each->offset);
      each->error = done ? 0 : done.error().code;
    }
    return;
  }
  for (const auto& each : parts_) queue_->start(*each);
  while (queue_->under_way() > 0) {
    queue_->submit();
    constexpr int kWaitMs = 100;
    queue_->wait(kWaitMs);
    queue_->acknowledge();
    while (queue_->take_ended() != nullptr) {
    }
  }
}

/// Reads what the disk did not give as a part object by object: one bad sector costs the objects
/// that lie there, and not their neighbours.
void batch_reads::read_apart(const part& failed) {
  const backing& pages = cold_table().pages();
  for (const miss& each : wanted_) {
    const base::page_span& where = each.where();
    if (!failed.holds(where)) continue;
    const std::span<std::byte> to(failed.to + (where.offset - failed.offset), where.bytes);
    if (!pages.read(to, where.offset)) unread_.push_back(where);
  }
}

const void* batch_reads::find(const void* object) const noexcept {
  if (!cold_table().is_logged() || !is_out(object)) return object;
  const base::page_span where = heaps().cold().place_of(object);
  const auto behind = std::ranges::upper_bound(parts_, where.offset, {},
                                               [](const auto& each) { return each->offset; });
  if (behind == parts_.begin()) return nullptr;
  const part& in = **std::prev(behind);
  const bool is_unread = std::ranges::find(unread_, where) != unread_.end();
  if (!in.holds(where) || is_unread) return nullptr;
  return object_in(in.to, {in.offset, in.bytes}, object);
}

void batch_reads::clear() noexcept {
  parts_.clear();
  wanted_.clear();
  unread_.clear();
}

}  // namespace isotherm::heap
