// Actions of a test between two steps of a protocol (sync/step_hook.hpp).
#pragma once

#include <functional>

#include "sync/step_hook.hpp"

namespace isotherm::sync {

#if defined(ISOTHERM_SANITIZED)
/// Calls `act` at each step that any thread takes, for its life. One at a time.
class at_steps {
 public:
  explicit at_steps(std::function<void(step, const void*)> act) {
    action() = std::move(act);
    between_steps.store_release([](step at, const void* where) noexcept { action()(at, where); });
  }
  /// The other threads that may take steps have ended.
  ~at_steps() { between_steps.store_release(nullptr); }
  at_steps(const at_steps&) = delete;
  at_steps& operator=(const at_steps&) = delete;

 private:
  static std::function<void(step, const void*)>& action() {
    static std::function<void(step, const void*)> kept;
    return kept;
  }
};
#endif

}  // namespace isotherm::sync
