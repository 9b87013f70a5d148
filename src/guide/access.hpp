// One operation of one thread on guides, and its outcome.
//
// An operation that dereferences guides may come to an object of COLD that is out of DRAM, or that
// the disk does not give. Its access says how such an object is met, and keeps what was met:
//
//   complete     every object that was needed was there
//   unreadable   the bytes of one cannot be read, or HOT has no room for one that must come back
//   missed       one is out of DRAM and was recorded: the operation is to run again when the reads
//                of take_misses() have ended
//   must_wait    one is out and no read can give it (it has left again since it was read, or there
//                is no memory): only an access that waits can do the operation
//   disk_silent  one was read, and the disk has not answered (cold_reader::end_unanswered())
//
// A dereference gives null for such an object, and the access says why. An operation that ends with
// another outcome than complete thus has no result of its own: a search may have taken a wrong way.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "heap/cold/read.hpp"
#include "sync/scope.hpp"

namespace isotherm {

namespace heap {
class arrived_reads;
}

/// Opens a scope, and keeps it open until it ends or close() is called. One thread's.
class access {
 public:
  /// Treatment of a use whose object is out of DRAM and has not arrived. An object of a type that
  /// is not immutable is always waited for.
  enum class when_cold : std::uint8_t {
    wait,    ///< the object is read at once, or its page is brought back
    record,  ///< the object is recorded, and not waited for
    /// The object is recorded, and one that has arrived stays in COLD: for a look ahead of the use
    /// that counts.
    prefetch
  };
  /// Result of a use whose object is out of DRAM and has arrived.
  enum class copies : std::uint8_t {
    refused,  ///< the object, which comes back to HOT for it
    allowed   ///< a copy, never to be written to or compared, where the object may stay in COLD
  };
  /// In the order of their weight: result() is the weightiest.
  enum class outcome : std::uint8_t { complete, unreadable, missed, must_wait, disk_silent };

  /// Makes an access that waits for objects that are out.
  access() noexcept : scope_() {}
  /// `arrived`, which may be null, must outlive it.
  explicit access(when_cold how, const heap::arrived_reads* arrived = nullptr,
                  copies may_use = copies::refused) noexcept
      : scope_(), arrived_(arrived), how_(how), copies_(may_use) {}
  ~access() {
    if (is_open_) std::destroy_at(&scope_);
  }
  access(const access&) = delete;
  access& operator=(const access&) = delete;

  /// Requires: it is open.
  const sync::scope& scope() const noexcept { return scope_; }
  /// Closes the scope: addresses that were found before are not valid any more. For work behind the
  /// last dereference, or between two parts of a long operation.
  void close() noexcept;
  /// Closes the scope and opens another.
  void renew() noexcept;
  /// Waits from here on: for an operation that must not end in the middle.
  void wait_from_here() noexcept { how_ = when_cold::wait; }
  bool waits() const noexcept { return how_ == when_cold::wait; }

  /// Forgets the outcome, but not the misses: the operation has another part.
  void begin() noexcept { met_ = outcome::complete; }
  /// The outcome since begin().
  outcome result() const noexcept { return met_; }
  bool has_lost() const noexcept { return met_ != outcome::complete; }
  /// Whether the part is to run again later.
  bool has_missed() const noexcept { return met_ == outcome::missed || met_ == outcome::must_wait; }

  /// Bytes of the pages that were recorded and not yet taken; up to read_limits().noted_bytes and
  /// an object.
  std::uint64_t missed_bytes() const noexcept { return recorded_ ? recorded_->bytes : 0; }
  std::vector<heap::miss> take_misses() noexcept {
    const auto taken = std::move(recorded_);
    return taken ? std::move(taken->misses) : std::vector<heap::miss>();
  }

  // For guides, and for structures that fail in their place.
  bool may_use_copies() const noexcept { return copies_ == copies::allowed || is_prefetch(); }
  bool is_prefetch() const noexcept { return how_ == when_cold::prefetch; }
  /// Whether a use of an object of a mapped COLD that is out may end otherwise than in the mapping.
  bool may_read_past_mapping() const noexcept;
  /// A read that has ended of the pages of a live object that is out; null where there is none.
  std::shared_ptr<const heap::cold_read> find_read(const void* object) const noexcept;
  /// Records a live object that is out; for an access that does not wait. The same one after itself
  /// counts once. Beyond read_limits().noted_bytes nothing more is recorded: the operation runs
  /// again when those have been read. If there is no memory for it the outcome is must_wait.
  void record(const void* object, heap::used_before before) noexcept;
  void note(outcome met) noexcept {
    if (met > met_) met_ = met;
  }

 private:
  /// Apart, so that an access that records nothing is made and ended at the cost of its scope.
  struct recorded {
    std::vector<heap::miss> misses;
    std::uint64_t bytes = 0;
  };

  union {  // so that it can close before the access ends
    sync::scope scope_;
  };
  const heap::arrived_reads* const arrived_ = nullptr;
  std::unique_ptr<recorded> recorded_;
  when_cold how_ = when_cold::wait;
  const copies copies_ = copies::refused;
  outcome met_ = outcome::complete;
  bool is_open_ = true;
};

}  // namespace isotherm
