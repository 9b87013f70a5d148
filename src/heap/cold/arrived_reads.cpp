#include "heap/cold/arrived_reads.hpp"

#include <algorithm>

#include "heap/ranges.hpp"

namespace isotherm::heap {

namespace {
constexpr std::size_t kKeptBuckets = 64;

/// Whether a read, ended or not, tells what is in pages that begin where its own do. One of more
/// pages may have failed for the sake of the others.
bool serves(const cold_read& one, const base::page_span& where) noexcept {
  if (one.where().bytes < where.bytes || one.is_cancelled()) return false;
  return !one.has_ended() || one.error() == 0 || one.where().bytes == where.bytes;
}
}  // namespace

bool is_out(const void* object) noexcept {
  const heap_set& set = heaps();
  return set.range_of(kind::cold).contains(object) && set.cold().is_out(object);
}

bool arrived_reads::add(const read& asked) {
  const auto [first, last] = reads_.equal_range(asked->where().offset);
  const auto is_same = [&asked](const auto& each) { return each.second == asked; };
  if (std::any_of(first, last, is_same)) return false;
  reads_.emplace(asked->where().offset, asked);
  return true;
}

arrived_reads::read arrived_reads::find(const base::page_span& where) const noexcept {
  for (auto [at, last] = reads_.equal_range(where.offset); at != last; ++at) {
    const cold_read& each = *at->second;
    if (each.has_ended() && serves(each, where)) return at->second;
  }
  return others_ == nullptr ? nullptr : others_->find(where);
}

arrived_reads::read arrived_reads::asked_for(const base::page_span& where) const noexcept {
  for (auto [at, last] = reads_.equal_range(where.offset); at != last; ++at) {
    if (serves(*at->second, where)) return at->second;
  }
  return nullptr;
}

void arrived_reads::remove(const read& added) noexcept {
  for (auto [at, last] = reads_.equal_range(added->where().offset); at != last; ++at) {
    if (at->second == added) {
      reads_.erase(at);
      return;
    }
  }
}

void arrived_reads::clear() noexcept {
  if (reads_.bucket_count() > kKeptBuckets) {
    decltype(reads_)().swap(reads_);
  } else if (!reads_.empty()) {
    reads_.clear();
  }
}

constinit thread_local const handed_over* handed_over::innermost = nullptr;

arrived_reads::read handed_over::find(const base::page_span& where) noexcept {
  for (const handed_over* at = innermost; at != nullptr; at = at->outer_) {
    const cold_read& read = *at->read_;
    if (read.where().offset == where.offset && serves(read, where)) return at->read_;
  }
  return nullptr;
}

}  // namespace isotherm::heap
