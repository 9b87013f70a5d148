// Bytes read from a client and not yet parsed.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace isotherm::server {

/// A growable byte queue in one piece. Not initialised, so that growing for a large value does not
/// touch pages that the client may never fill.
class query_buffer {
 public:
  query_buffer() = default;
  ~query_buffer() { std::free(memory_); }
  query_buffer(const query_buffer&) = delete;
  query_buffer& operator=(const query_buffer&) = delete;

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
    if (begin_ != end_) return;
    std::free(memory_);
    memory_ = nullptr;
    begin_ = end_ = capacity_ = 0;
  }

  /// Frees the room behind the content if it is most of the memory. May move the content; true: it
  /// has.
  bool shrink() noexcept {
    if (size() == 0 || capacity_ < kWorthFreeing || size() > capacity_ / 2) return false;
    char* smaller = static_cast<char*>(std::malloc(size()));
    if (!smaller) return false;
    std::memcpy(smaller, memory_ + begin_, size());
    std::free(std::exchange(memory_, smaller));
    capacity_ = end_ = size();
    begin_ = 0;
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
    const std::size_t grown = std::max(end_ + bytes, capacity_ + capacity_ / 2);
    char* larger = static_cast<char*>(std::realloc(memory_, grown));
    if (!larger) throw std::bad_alloc();
    memory_ = larger;
    capacity_ = grown;
  }

 private:
  static constexpr std::size_t kWorthFreeing = std::size_t{4} << 10;

  char* memory_ = nullptr;
  std::size_t begin_ = 0, end_ = 0, capacity_ = 0;
};

}  // namespace isotherm::server
