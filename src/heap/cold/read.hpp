// A read of an object of COLD that has left DRAM: no thread waits for it, and in a mapped COLD no
// page comes back for the sake of one object.
//
//   miss          an object that an operation needed and did not wait for; pins its extent
//   cold_read     the read of its pages for all operations of a thread that wait for it; pins the
//                 extent meanwhile
//   shared_reads  the reads of all threads: a read follows another thread's read of the same pages
//                 (shared_reads.hpp, with the states of a read)
//   cold_reader   a thread's: submits its reads and reports their ends (reader.hpp)
//   object_copy   a read that a thread waits for (object_copy.hpp)
//   batch_reads   the collector's (batch_reads.hpp)
//
// A copy stays right as long as its extent is pinned: the bytes of an object in COLD do not change,
// and its address means no other object meanwhile (packed/extent.hpp). Objects that are out are
// whole: the collector alone makes objects in COLD (guides::allocate_or_newborn()), and an extent
// leaves when it is closed. The user of a copy finds out whether a guide still holds the object
// (guide/fetched.hpp).
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
#include "os/disk/read_queue.hpp"

namespace isotherm::heap {

/// Whether an object that is missed had been used since the collector's last window ended.
enum class used_before : std::uint8_t { no, yes };

/// Memory for pages that are read past the page cache.
struct frees_pages {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
using page_memory = std::unique_ptr<std::byte, frees_pages>;

/// Returns the copy of an object of COLD in pages that were read; null where the file holds no
/// whole object there, as after a file system has lost what was written to it.
const void* object_in(const std::byte* bytes, const base::page_span& where,
                      const void* object) noexcept;

/// Move-only.
class miss {
 public:
  /// Pins the extent of an object.
  /// Requires: the object is live, in COLD, and was found in the scope that is open.
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

  /// Returns the size of the object, or up to 15 bytes more.
  std::size_t bytes() const noexcept { return bytes_; }
  /// Returns the object's pages, as offsets from the begin of COLD's range.
  const base::page_span& where() const noexcept { return where_; }
  used_before before() const noexcept { return before_; }

 private:
  const void* object_;
  std::size_t bytes_;
  base::page_span where_;
  used_before before_;
};

class read_mailbox;

/// Made by shared_reads for a cold_reader, which has its pages read. Users have const reads only.
/// An ended read does not change; thread: any may use it.
class cold_read {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Waits for the pages of a missed object, for the reader of that mailbox.
  cold_read(miss&& wanted, read_mailbox& mailbox) noexcept
      : wanted_(std::move(wanted)), mailbox_(&mailbox) {
    sharing_.before = wanted_.before();
  }

  const base::page_span& where() const noexcept { return wanted_.where(); }
  /// Acquire: pairs with the release of end(). The error and the copy are seen.
  bool has_ended() const noexcept { return has_ended_.load_acquire(); }
  /// Returns 0, or an errno value: EIO where the disk does not give the pages, ETIME where it does
  /// not answer (cold_reader::end_unanswered()), ENOMEM where there was no memory to put them,
  /// ECANCELED where its reader went before the disk had answered.
  int error() const noexcept { return error_; }
  bool is_cancelled() const noexcept { return has_ended() && error() == ECANCELED; }
  /// Returns false where the pages were brought back to DRAM instead, and where the read failed.
  bool was_copied() const noexcept { return error() == 0 && bytes_read() != nullptr; }
  /// Returns the copy of an object of COLD that lies in these pages, which lives as long as this
  /// read; null where they were not copied, or hold no live object there.
  const void* copy_of(const void* object) const noexcept;
  /// Returns `yes` where the object of some miss that waits for this read had been used before.
  /// Requires: the read has ended, or the mutex of shared_reads is held.
  used_before before() const noexcept { return sharing_.before; }

  // For the reader that made it, on its thread.

  /// The transfer of the pages from the disk. The disk may write to the request and to the copy
  /// after the read has ended with ECANCELED or ETIME.
  struct transfer : os::queued_read {
    cold_read* of = nullptr;
    page_memory copy;
    std::shared_ptr<cold_read> keeps;  // the read itself, until the disk has answered
  };
  transfer& disk_transfer() noexcept { return transfer_; }
  /// True from the submission to the disk to the disk's answer.
  bool is_submitted() const noexcept { return transfer_.keeps != nullptr; }

  // For shared_reads.

  read_mailbox& mailbox() const noexcept { return *mailbox_; }
  time_point asked_at() const noexcept { return asked_at_; }
  /// Guarded by the mutex of shared_reads.
  struct sharing_state {
    std::list<std::uint64_t> tickets;
    used_before before = used_before::no;  // does not change once the read has ended
    cold_read* leader = nullptr;
    std::list<std::shared_ptr<cold_read>> followers;
    bool may_be_followed = true;  // false: the thread of its reader was found busy
  };
  sharing_state& sharing() noexcept { return sharing_; }
  /// Ends the read. `served_by` is the leader whose copy it uses; null: it uses its own.
  /// Requires: the mutex of shared_reads; the read has not ended.
  void end(int error, std::shared_ptr<const cold_read> served_by = nullptr) noexcept {
    served_by_ = std::move(served_by);
    error_ = error;
    has_ended_.store_release(true);  // pairs with the acquire of has_ended()
  }

 private:
  const std::byte* bytes_read() const noexcept {
    return served_by_ == nullptr ? transfer_.copy.get() : served_by_->transfer_.copy.get();
  }

  miss wanted_;
  read_mailbox* const mailbox_;  // dangles once the read has ended and its reader has gone
  const time_point asked_at_ = std::chrono::steady_clock::now();
  transfer transfer_;
  sharing_state sharing_;
  // Written before has_ended_, whose release in end() pairs with the acquire in has_ended().
  std::shared_ptr<const cold_read> served_by_;
  int error_ = 0;
  base::atomic<bool> has_ended_{false};
};

}  // namespace isotherm::heap
