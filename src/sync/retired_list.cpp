#include "sync/retired_list.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "sync/epoch.hpp"
#include "sync/slots.hpp"

namespace isotherm::sync {

namespace {

/// Segments for when memory is exhausted: 43,520 blocks. Untouched pages cost nothing.
class segment_reserve {
 public:
  retired_segment* take() noexcept {
    const std::lock_guard lock(lock_);
    if (returned_) {
      retired_segment* const segment = returned_;
      returned_ = segment->next;
      return segment;
    }
    return handed_out_ < kSegments ? &at(handed_out_++) : nullptr;
  }
  bool owns(const retired_segment* segment) const noexcept {
    const auto* address = reinterpret_cast<const std::byte*>(segment);
    return address >= memory_ && address < memory_ + sizeof memory_;
  }
  void lock() noexcept { lock_.lock(); }
  void unlock() noexcept { lock_.unlock(); }
  void give(retired_segment* segment) noexcept {
    const std::lock_guard lock(lock_);
    segment->next = returned_;
    returned_ = segment;
  }

 private:
  static constexpr std::size_t kSegments = 256;
  retired_segment& at(std::size_t index) noexcept {
    return *reinterpret_cast<retired_segment*>(memory_ + index * sizeof(retired_segment));
  }

  base::spin_lock lock_;
  std::size_t handed_out_ = 0;  // the first of them were used once
  retired_segment* returned_ = nullptr;
  alignas(retired_segment) std::byte memory_[kSegments * sizeof(retired_segment)] = {};
};

constinit segment_reserve reserve{};

retired_segment* make_segment() noexcept {
  void* memory = ::operator new(sizeof(retired_segment), std::nothrow);
  if (!memory) memory = reserve.take();
  return memory ? ::new (memory) retired_segment : nullptr;
}

void free_segment(retired_segment* segment) noexcept {
  if (reserve.owns(segment)) {
    reserve.give(segment);
  } else {
    ::operator delete(segment);
  }
}

std::uint64_t bytes_in(const retired_segment& segment) noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = segment.first; i < segment.end; ++i) bytes += segment.blocks[i].bytes;
  return bytes;
}

}  // namespace

bool retired_list::push(const retired_block& block) noexcept {
  const std::lock_guard lock(lock_);
  if (!open_ || last_->end == retired_segment::kBlocks) {
    retired_segment* next = spare_;
    spare_ = nullptr;
    if (!next && !(next = make_segment())) return false;
    (open_ ? last_->next : open_) = next;
    last_ = next;
  }
  last_->blocks[last_->end++] = block;
  count(1, block.bytes);
  return true;
}

bool retired_list::is_front_ready(std::unique_lock<base::spin_lock>& held) noexcept {
  if (!closing_) {
    if (!open_) return false;
    closing_ = std::exchange(open_, nullptr);
    closing_last_ = last_;
    front_ = stage::sealing;
    held.unlock();
    const std::uint64_t sealing = advance_epoch();
    held.lock();
    epoch_ = sealing;
    front_ = stage::waiting;
  }
  if (front_ == stage::waiting) {
    const std::uint64_t epoch = epoch_;
    held.unlock();
    const bool is_ready = oldest_open_epoch(epoch) >= epoch;
    held.lock();
    // Another reclaimer may have emptied and sealed the front anew.
    if (is_ready && front_ == stage::waiting && epoch_ == epoch) front_ = stage::ready;
  }
  return closing_ && front_ == stage::ready;
}

retired_segment* retired_list::take_ready() noexcept {
  std::unique_lock held(lock_);
  return is_front_ready(held) ? take_first(closing_) : nullptr;
}

retired_segment* retired_list::take_aside() noexcept {
  const std::lock_guard lock(lock_);
  return aside_ ? take_first(aside_) : nullptr;
}

retired_segment* retired_list::take_first(retired_segment*& list) noexcept {
  retired_segment* const segment = list;
  list = segment->next;
  segment->next = nullptr;
  count(0 - std::size_t{segment->end - segment->first}, 0 - bytes_in(*segment));
  return segment;
}

void retired_list::set_aside(retired_segment* segment) noexcept {
  const std::lock_guard lock(lock_);
  if (!aside_) aside_last_ = segment;
  segment->next = aside_;
  aside_ = segment;
  count(segment->end - segment->first, bytes_in(*segment));
}

void retired_list::set_rest_aside() noexcept {
  const std::lock_guard lock(lock_);
  if (!closing_ || front_ != stage::ready) return;
  (aside_ ? aside_last_->next : aside_) = std::exchange(closing_, nullptr);
  aside_last_ = closing_last_;
}

void retired_list::recycle(retired_segment* segment) noexcept {
  {
    const std::lock_guard lock(lock_);
    if (!spare_) {
      segment->first = segment->end = 0;
      std::swap(spare_, segment);
    }
  }
  if (segment) free_segment(segment);
}

void retired_list::count(std::size_t blocks, std::uint64_t bytes) noexcept {
  blocks_.add_as_only_writer(blocks);
  bytes_.add_as_only_writer(bytes);
}

void retired_list::lock_for_fork() noexcept { lock_.lock(); }
void retired_list::unlock_in_parent() noexcept { lock_.unlock(); }

void retired_list::unlock_in_child() noexcept {
  if (front_ == stage::sealing) {
    epoch_ = advance_epoch();
    front_ = stage::waiting;
  }
  lock_.unlock();
}

void retired_list::lock_reserve() noexcept { reserve.lock(); }
void retired_list::unlock_reserve() noexcept { reserve.unlock(); }

}  // namespace isotherm::sync
