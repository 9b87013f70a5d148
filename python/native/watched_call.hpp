// Calls into the library that may take long: the GIL is released, and signals and progress reach
// Python meanwhile.
#pragma once

#include <nanobind/nanobind.h>
#include <isotherm/sort.hpp>

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "failure.hpp"

namespace isotherm::python {

namespace nb = nanobind;

/// One call at a time, which runs on a thread of its own. The calling thread waits without the GIL
/// and takes it some times a second, to look for signals (a KeyboardInterrupt) and to call
/// `progress`. An exception there stops the call, and is thrown when it has ended.
class watched_call {
 public:
  /// `progress` is None or takes a stage or step, and how much of its total is done.
  explicit watched_call(nb::object progress = nb::none()) : progress_(std::move(progress)) {}

  /// Has the sort report here, and end when this call is stopped.
  void watch(sort_options& options);
  /// Notes progress, by any one thread at a time.
  void report(std::string step, std::uint64_t done, std::uint64_t total);

  /// Runs `work` and returns its value; its error is thrown as a failure.
  template <class T>
  T run(const std::function<base::result<T>()>& work) {
    std::optional<base::result<T>> r;
    run_beside([&] { r.emplace(work()); });
    return value_of(std::move(*r));
  }

 private:
  struct event {
    std::string step;
    std::uint64_t done;
    std::uint64_t total;
  };
  void run_beside(const std::function<void()>& body);
  void wait();
  void serve(const std::vector<event>& events);

  nb::object progress_;
  std::stop_source stop_;
  std::exception_ptr thrown_;  // by Python, then by the body
  std::mutex lock_;            // guards all below
  std::condition_variable wake_;
  std::vector<event> events_;
  bool ended_ = false;
};

}  // namespace isotherm::python
