// How far threads have come together.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string_view>

namespace isotherm::tool {

/// Told how many of how many records are done, by one thread at a time.
using record_progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Shows progress on standard error when that is a terminal, or whatever it is.
enum class shown : unsigned char { on_terminal, always };

/// Shows the share that is done of a task ("checking"): on a terminal in one line that counts up
/// and that the last call clears; elsewhere in a line each tenth. Empty when nothing is to be
/// shown.
record_progress show_progress(shown when, std::string_view task);

/// Adds up what threads have done and tells it.
class progress_sum {
 public:
  progress_sum(const record_progress& told, std::uint64_t total) : told_(told), total_(total) {}
  void add(std::uint64_t records);

 private:
  const record_progress& told_;
  const std::uint64_t total_;
  std::mutex lock_;  // guards done_, and calls of told_
  std::uint64_t done_ = 0;
};

}  // namespace isotherm::tool
