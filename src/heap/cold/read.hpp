// A read of an object of COLD whose pages have left DRAM, past the mapping: nobody waits for a
// fault, and no page comes back for the sake of one object.
//
//   miss        an object that an operation needed and did not wait for; keeps the object's extent
//   cold_read   the read of its pages, shared by all of a thread that wait for it; keeps the extent
//               meanwhile. It follows another thread's while that one reads these pages
//   cold_reader starts reads and tells their ends, of one thread (reader.hpp)
//
// What was read stays right as long as its extent is kept: the bytes of an object in COLD do not
// change, and its address means no other object meanwhile (packed/extent.hpp). What lies in pages
// that are out is whole: the collector alone makes objects in COLD (guides::allocate_or_newborn()),
// and writes them before it asks pages to leave. Whether a guide still holds the object is for
// whoever uses the copy to see (guide/fetched.hpp).
#pragma once

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <list>
#include <memory>
#include <utility>

#include "base/atomic.hpp"
#include "base/page.hpp"
#include "os/files/read_queue.hpp"

namespace isotherm::heap {

/// Whether an object that is missed had been used since the collector's last window ended.
enum class used_before : std::uint8_t { no, yes };

/// Move-only.
class miss {
 public:
  /// Of a live object of COLD, in a scope that has found it.
  explicit miss(const void* object, used_before before = used_before::no) noexcept;
  miss(miss&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        bytes_(other.bytes_),
        where_(other.where_),
        before_(other.before_) {}
  miss& operator=(miss&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(bytes_, other.bytes_);
    std::swap(where_, other.where_);
    std::swap(before_, other.before_);
    return *this;
  }
  ~miss();

  /// Of the object, up to 15 more.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Its pages, from the begin of COLD's range.
  const base::page_span& where() const noexcept { return where_; }
  used_before before() const noexcept { return before_; }

 private:
  const void* object_;
  std::size_t bytes_;
  base::page_span where_;
  used_before before_;
};

class cold_reader;

/// Made by a cold_reader, for its thread. Once it has ended it does not change, and any thread may
/// look at it.
class cold_read {
 public:
  explicit cold_read(miss&& wanted) noexcept
      : wanted_(std::move(wanted)), before_(wanted_.before()) {}

  const base::page_span& where() const noexcept { return wanted_.where(); }
  /// Acquire: pairs with the release of cold_reader::tell(); what was read is seen.
  bool has_ended() const noexcept { return has_ended_.load_acquire(); }
  /// 0, or an errno value: EIO where the disk does not give the pages, ETIME where it does not
  /// answer (cold_reader::end_unanswered()), ENOMEM where there was no memory to put them,
  /// ECANCELED where its reader went before the disk had answered.
  int error() const noexcept { return error_; }
  bool is_cancelled() const noexcept { return has_ended() && error() == ECANCELED; }
  /// False where the pages were brought back to DRAM instead, and where the read failed.
  bool was_copied() const noexcept { return error() == 0 && bytes_read() != nullptr; }
  /// The copy of an object of COLD that lies in these pages, as long as this read lives; null where
  /// they were not copied, or hold no live object there.
  const void* copy_of(const void* object) const noexcept;
  /// Of what is read here, whether some that wait for it had been used before. Once it has ended.
  used_before before() const noexcept { return before_; }

 private:
  friend class cold_reader;
  struct frees {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  const std::byte* bytes_read() const noexcept {
    return served_by_ == nullptr ? data_.get() : served_by_->data_.get();
  }

  miss wanted_;
  // The disk may write to these two after the read has ended with ECANCELED or ETIME.
  std::unique_ptr<std::byte, frees> data_;
  struct request : os::queued_read {
    cold_read* of = nullptr;
  } request_;
  std::shared_ptr<cold_read> myself_;  // while the disk may write to it
  // Written before has_ended_.
  std::shared_ptr<const cold_read> served_by_;  // what it followed to the end
  int error_ = 0;
  base::atomic<bool> has_ended_{false};
  // Under the mutex of reader.cpp.
  cold_reader* by_ = nullptr;  // whose read it is
  std::list<std::uint64_t> tickets_;
  used_before before_;
  std::chrono::steady_clock::time_point asked_;
  cold_read* leader_ = nullptr;  // which it follows
  std::list<std::shared_ptr<cold_read>> followers_;
  bool is_left_alone_ = false;  // its thread is busy: nobody follows it any more
};

}  // namespace isotherm::heap
