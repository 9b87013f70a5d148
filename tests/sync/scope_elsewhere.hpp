// A thread that stays inside a scope.
#pragma once

#include <latch>
#include <thread>

#include "sync/scope.hpp"

namespace isotherm::testing_help {

/// Another thread's scope: open when this is made, closed at the end of leave() or of its life.
class scope_elsewhere {
 public:
  scope_elsewhere()
      : thread_([this] {
          const sync::scope inside;
          entered_.count_down();
          may_leave_.wait();
        }) {
    entered_.wait();
  }
  ~scope_elsewhere() { leave(); }
  scope_elsewhere(const scope_elsewhere&) = delete;
  scope_elsewhere& operator=(const scope_elsewhere&) = delete;

  void leave() {
    if (!thread_.joinable()) return;
    may_leave_.count_down();
    thread_.join();
  }

 private:
  std::latch entered_{1}, may_leave_{1};
  std::thread thread_;  // last: it uses the others
};

}  // namespace isotherm::testing_help
