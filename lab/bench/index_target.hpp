// An index of this process as the target of a workload.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "heap/upkeep.hpp"
#include "index/index.hpp"
#include "lab/workload/expiry.hpp"
#include "lab/workload/record.hpp"
#include "lab/workload/target.hpp"
#include "sync/scope.hpp"

namespace isotherm::lab {

/// One thread's commands to an index, as a server has them: each waits for room, and for objects
/// that are out of DRAM. Not thread-safe.
class index_commands {
 public:
  explicit index_commands(index::any_index& index) noexcept : index_(index) {}

  /// Gives the value to `is_right`, which tells whether it is the key's.
  template <class IsRight>
  workload::answer get(std::string_view key, const IsRight& is_right) {
    heap::wait_for_room();  // what comes back takes some
    access inside = access_to_read();
    const auto value = index_.find(inside, key);
    if (!value) return workload::answer::missing;
    return is_right(*value) ? workload::answer::done : workload::answer::corrupt;
  }
  /// Gives keys and values from `key` on to `visit`, in their order, until it returns false.
  template <class Visit>
  void scan(std::string_view key, const Visit& visit) {
    heap::wait_for_room();
    access inside = access_to_read();
    index_.scan(inside, key, visit);
  }
  /// `corrupt`: the key was there.
  base::result<workload::answer> insert(std::string_view key, std::string_view value);
  base::result<workload::answer> set(std::string_view key, std::string_view value);
  workload::answer remove(std::string_view key);
  /// Adds 1; an absent key becomes 1. `missing`: the value is no number, and stays.
  base::result<workload::answer> incr(std::string_view key);

 private:
  /// Waits for objects that are out, and leaves in COLD those that are not worth DRAM.
  static access access_to_read() noexcept {
    return access(access::when_cold::wait, nullptr, access::copies::allowed);
  }

  index::any_index& index_;
  std::string counter_;
};

/// Times at which the records of an index expire, for all threads.
struct shared_expiry {
  std::mutex mutex;
  workload::expiry_times times;  ///< under `mutex`
};

/// Sees the values that requests read.
class read_observer {
 public:
  virtual ~read_observer() = default;
  /// Called after each read that found a value, while that is valid. Thread: all at once.
  virtual void see(std::string_view value) noexcept = 0;
};

/// Drives `index`, which must outlive it and its sessions, and so must the observer, if any. Values
/// that expire are deleted by the sessions themselves, before their next request: an index has no
/// clock.
class index_target final : public workload::target {
 public:
  index_target(index::any_index& index, const workload::record_format& format, std::uint64_t seed,
               read_observer* observer = nullptr)
      : index_(index), format_(format), seed_(seed), observer_(observer) {}

  base::result<std::unique_ptr<workload::session>> connect() override;
  bool can_scan() const noexcept override { return index_.is_ordered(); }
  place runs_in() const noexcept override { return place::caller; }

 private:
  index::any_index& index_;
  workload::record_format format_;
  std::uint64_t seed_;
  shared_expiry expiry_;
  read_observer* observer_;
};

}  // namespace isotherm::lab
