// Bytes read from a client and not yet parsed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "os/memory/address_space.hpp"

namespace isotherm::server {

/// A growable byte queue in one piece. Not initialised, so that growing for a large value does not
/// touch pages that the client may never fill. From some MiB on it lies in pages of its own, which
/// grow without being copied: others would wait for that.
class query_buffer {
 public:
  query_buffer() = default;
  ~query_buffer() { give_back(); }
  query_buffer(query_buffer&& other) noexcept { swap(other); }
  query_buffer& operator=(query_buffer&& other) noexcept {
    swap(other);
    return *this;
  }

  std::string_view view() const noexcept { return {memory_ + begin_, end_ - begin_}; }
  std::size_t size() const noexcept { return end_ - begin_; }
  std::size_t capacity() const noexcept { return capacity_; }
  std::size_t room() const noexcept { return capacity_ - end_; }
  char* tail() noexcept { return memory_ + end_; }
  void filled(std::size_t bytes) noexcept { end_ += bytes; }

  /// Drops `bytes` from the front. An empty buffer frees its memory: the allocator has it ready for
  /// the next client that sends something, and an idle client takes none.
  void consume(std::size_t bytes) noexcept {
    begin_ += bytes;
    if (begin_ == end_) give_back();
  }

  /// Frees the room behind the content if it is most of the memory. May move the content; true: it
  /// has.
  bool shrink() noexcept {
    if (size() == 0 || capacity_ < kWorthFreeing || size() > capacity_ / 2) return false;
    query_buffer smaller;
    if (!smaller.resize(size())) return false;
    smaller.append(view());
    swap(smaller);
    return true;
  }

  /// Makes room for at least `bytes` behind the tail. May move the content.
  void prepare(std::size_t bytes) {
    if (room() >= bytes) return;
    // Moves only as much as was consumed, so that a long backlog is not moved for each read.
    if (begin_ > 0 && begin_ >= size()) {
      std::memmove(memory_, memory_ + begin_, size());
      end_ -= begin_;
      begin_ = 0;
      if (room() >= bytes) return;
    }
    if (!resize(std::max(end_ + bytes, capacity_ + capacity_ / 2))) throw std::bad_alloc();
  }

  /// Takes the content up to `bytes` away, in the memory where it lies; a copy of the rest stays.
  query_buffer take_front(std::size_t bytes) {
    query_buffer rest;
    const std::string_view behind = view().substr(bytes);
    if (!behind.empty()) {
      rest.prepare(behind.size());
      rest.append(behind);
    }
    swap(rest);
    return rest;
  }

 private:
  void swap(query_buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
  }

  /// There is room for `text`.
  void append(std::string_view text) noexcept {
    std::memcpy(tail(), text.data(), text.size());
    filled(text.size());
  }
  bool is_mapped() const noexcept { return capacity_ >= kMappedBytes; }
  /// Never makes a mapped buffer smaller. False: there is no memory, and nothing has changed.
  bool resize(std::size_t wanted) noexcept {
    char* at;
    if (is_mapped()) {
      at = static_cast<char*>(os::remap_memory(memory_, capacity_, wanted));
    } else if (wanted < kMappedBytes) {
      at = static_cast<char*>(std::realloc(memory_, wanted));
    } else if ((at = static_cast<char*>(os::map_memory(wanted))) != nullptr && memory_ != nullptr) {
      std::memcpy(at, memory_, end_);
      std::free(memory_);
    }
    if (at == nullptr) return false;
    memory_ = at;
    capacity_ = wanted;
    return true;
  }
  void give_back() noexcept {
    is_mapped() ? os::release(memory_, capacity_) : std::free(memory_);
    memory_ = nullptr;
    begin_ = end_ = capacity_ = 0;
  }

  static constexpr std::size_t kWorthFreeing = std::size_t{4} << 10;
  static constexpr std::size_t kMappedBytes = std::size_t{4} << 20;

  char* memory_ = nullptr;
  std::size_t begin_ = 0, end_ = 0, capacity_ = 0;
};

}  // namespace isotherm::server
