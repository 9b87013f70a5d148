// A thread that does not wait for pages of COLD.
#pragma once

#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heap/cold/read.hpp"

namespace isotherm::heap {

/// Whether this process has made the pages of a live object leave DRAM; false for what lies in no
/// COLD. It may be wrong about what the system does by itself (packed/extent.hpp). Any thread.
bool is_out(const void* object) noexcept;

/// Reads that were asked for a thread; those that have ended are found. Not thread-safe.
class arrived_reads {
 public:
  using read = std::shared_ptr<const cold_read>;

  /// `others`, which must outlive it, is looked in too.
  explicit arrived_reads(const arrived_reads* others = nullptr) noexcept : others_(others) {}
  arrived_reads(const arrived_reads&) = delete;
  arrived_reads& operator=(const arrived_reads&) = delete;

  /// False where it was added before.
  bool add(const read& asked);
  /// A read that has ended of an object's pages, or null. One that was cancelled is not found:
  /// nobody has read it, and the object is missed again. Constant time, as a rule.
  const cold_read* find(const base::page_span& where) const noexcept;
  /// A read of these pages among those that were added here, ended or not; null where there is
  /// none, or was cancelled.
  read asked_for(const base::page_span& where) const noexcept;
  void remove(const read& added) noexcept;
  /// Gives back what more than a few have taken.
  void clear() noexcept;
  bool is_empty() const noexcept {
    return reads_.empty() && (others_ == nullptr || others_->is_empty());
  }

 private:
  const arrived_reads* const others_;
  std::unordered_multimap<std::uint64_t, read> reads_;  // by the offset of their pages
};

/// While one lives its thread does not wait: a guide whose object is out of DRAM gives null, as for
/// one that cannot be read (heap::read_watch tells), and the object is noted here; or, of what has
/// arrived, a copy. Of several the innermost counts.
class miss_watch {
 public:
  /// What a use of an object that has arrived may get.
  enum class copies : std::uint8_t {
    /// The copy itself, which nobody may write to or compare: the object may stay in COLD.
    allowed,
    /// The same, and the object stays in COLD in any case: for a look ahead of the use itself,
    /// which is the one that counts.
    only,
    /// The object, which comes back to HOT for it.
    refused
  };

  /// What becomes of a use of an object that has not arrived.
  enum class missing : std::uint8_t {
    noted,             ///< and one that no read can give is waited for
    never_waited_for,  ///< noted as well; of one that no read can give must_wait() tells
    waited_for
  };

  /// `arrived` must outlive it.
  miss_watch(const arrived_reads& arrived, copies may_use,
             missing others = missing::noted) noexcept;
  ~miss_watch();
  miss_watch(const miss_watch&) = delete;
  miss_watch& operator=(const miss_watch&) = delete;

  /// The calling thread's, or null.
  static miss_watch* of_this_thread() noexcept { return current; }

  bool has_missed() const noexcept { return !missed_.empty() || must_wait_; }
  /// A use has missed what no read can give: its object has gone again before it was used, or must
  /// come back and can't. Only a thread that waits can do what this one was to do.
  bool must_wait() const noexcept { return must_wait_; }
  /// Of the pages that it has noted; up to read_limits().noted_bytes and an object.
  std::uint64_t missed_bytes() const noexcept { return missed_bytes_; }
  std::vector<miss> take() noexcept {
    missed_bytes_ = 0;
    return std::exchange(missed_, {});
  }

  // For guides.
  bool allows_copies() const noexcept { return may_use_ != copies::refused; }
  bool allows_only_copies() const noexcept { return may_use_ == copies::only; }
  bool waits_for_others() const noexcept { return others_ == missing::waited_for; }
  const arrived_reads& arrived() const noexcept { return arrived_; }
  const cold_read* find(const void* object) const noexcept;
  /// Notes a live object that is out, in a scope. The same one after itself counts once. Beyond
  /// read_limits().noted_bytes nothing more is noted: the operation runs again when these have been
  /// read. False where there is no memory to note it.
  bool note(const void* object, used_before before) noexcept;
  /// That no read can give; false where it is to be waited for.
  bool note_ungiven() noexcept {
    must_wait_ |= others_ == missing::never_waited_for;
    return others_ == missing::never_waited_for;
  }

 private:
  friend class waiting;
  static constinit thread_local miss_watch* current __attribute__((tls_model("initial-exec")));

  const arrived_reads& arrived_;
  const copies may_use_;
  const missing others_;
  miss_watch* const outer_;
  std::vector<miss> missed_;
  std::uint64_t missed_bytes_ = 0;
  bool must_wait_ = false;
};

/// While one lives its thread waits for pages of COLD all the same, for what must not end in the
/// middle.
class waiting {
 public:
  waiting() noexcept : paused_(std::exchange(miss_watch::current, nullptr)) {}
  ~waiting() { miss_watch::current = paused_; }
  waiting(const waiting&) = delete;
  waiting& operator=(const waiting&) = delete;

 private:
  miss_watch* const paused_;
};

}  // namespace isotherm::heap
