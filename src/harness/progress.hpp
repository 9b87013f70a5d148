// How far threads have come together.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

namespace isotherm::harness {

/// Told how many of how many records are done, by one thread at a time.
using record_progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Adds up what threads have done and tells it.
class progress_sum {
 public:
  progress_sum(const record_progress& told, std::uint64_t total) : told_(told), total_(total) {}
  void add(std::uint64_t records) {
    if (!told_) return;
    const std::lock_guard guard(lock_);
    done_ += records;
    told_(done_, total_);
  }

 private:
  const record_progress& told_;
  const std::uint64_t total_;
  std::mutex lock_;  // guards done_, and calls of told_
  std::uint64_t done_ = 0;
};

}  // namespace isotherm::harness
