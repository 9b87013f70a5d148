// The parts of a process that may be seen, and changed. The page of a program that has only a
// collector shows a process_view; one that has more to tell (a server) derives from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "collector/collector.hpp"
#include "live/figures.hpp"
#include "os/clock.hpp"

namespace isotherm::live {

/// Limits work that can wait to a share of a processor's time.
class pace {
 public:
  /// At most one part in `parts`.
  explicit pace(std::uint64_t parts) noexcept : parts_(parts) {}
  /// Nanoseconds until it may be done again; 0: now.
  std::uint64_t wait_ns() const noexcept {
    const std::uint64_t now = os::monotonic_ns();
    return now < next_ns_ ? next_ns_ - now : 0;
  }
  template <class Work>
  auto run(Work work) {
    const struct noted {
      pace& of;
      std::uint64_t began;
      ~noted() {
        of.next_ns_ = os::monotonic_ns() + (of.parts_ - 1) * (os::thread_cpu_ns() - began);
      }
    } at_its_end{*this, os::thread_cpu_ns()};
    return work();
  }

 private:
  const std::uint64_t parts_;
  std::uint64_t next_ns_ = 0;
};

/// An option as it is now.
struct shown_option {
  std::string name, unit, help, range, value;
  bool is_live = false;  ///< can be changed
};

/// For one thread, the page's.
class process_view {
 public:
  /// `running`, which must outlive it, may be null: then there are no heaps.
  explicit process_view(collector::object_collector* running) : running_(running) {}
  virtual ~process_view() = default;
  process_view(const process_view&) = delete;
  process_view& operator=(const process_view&) = delete;

  /// Returns a snapshot. Bytes in DRAM are measured with at most a third of a per cent of a
  /// processor; in between the last measurement stands.
  virtual snapshot look();
  virtual base::result<void> configure(std::string_view name, std::string_view value);
  std::vector<shown_option> options() const;
  /// Returns null if there is none.
  collector::object_collector* collector() const noexcept { return running_; }

 private:
  void measure();

  collector::object_collector* const running_;
  pace measuring_{300};
  heap::per_kind<heap::usage> heaps_;
  heap::footprint footprint_;
};

}  // namespace isotherm::live
