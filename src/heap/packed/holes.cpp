#include "heap/packed/holes.hpp"

#include "heap/packed/extent.hpp"
#include "heap/poison.hpp"

namespace isotherm::heap {

void* hole_cache::take(std::size_t units, std::uint32_t shard_number) noexcept {
  shard& mine = shards_[shard_number % kShards];
  const std::lock_guard held(mine.lock);
  bin& holes = mine.bins[units % kBins];
  if (!holes.first || holes.units != units) return nullptr;
  void* const hole = holes.first;
  holes.first = next_of(hole);
  mine.bytes -= units * kUnitBytes;
  mark(hole, kLiveMark);
  return hole;
}

void hole_cache::mark(void* hole, std::uint32_t as) noexcept {
  unpoison(header_of(hole), kHeaderBytes);
  write_header(hole, {as, racy_header(hole).bytes});
  poison(header_of(hole), kHeaderBytes);
}

void* hole_cache::next_of(void* hole) noexcept {
  unpoison(hole, sizeof(void*));
  void* const next = *static_cast<void**>(hole);
  poison(hole, sizeof(void*));
  return next;
}

void hole_cache::lock_for_fork() {
  flushing_.lock();
  for (shard& each : shards_) each.lock.lock();
}

void hole_cache::unlock_after_fork() {
  for (shard& each : shards_) each.lock.unlock();
  flushing_.unlock();
}

}  // namespace isotherm::heap
