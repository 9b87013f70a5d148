#include "os/faults.hpp"

#include <utility>

#include "base/atomic.hpp"

namespace isotherm::os {
namespace {

fault_hook& hook() {
  // Never destroyed: objects of static storage may still give COLD's file space back at exit.
  static fault_hook& installed = *new fault_hook;
  return installed;
}

constinit std::optional<std::uint64_t> free_space_bytes;
// Relaxed: nothing is published by them; a test sets them before the calls that are meant.
constinit base::atomic<int> thread_fault{0};
constinit base::atomic<std::size_t> longest_read{0};  // 0: as long as is asked for

}  // namespace

void set_fault_hook(fault_hook h) { hook() = std::move(h); }
void set_free_space(std::optional<std::uint64_t> bytes) { free_space_bytes = bytes; }
void set_thread_fault(int code) { thread_fault.store_relaxed(code); }
void set_longest_read(std::optional<std::size_t> bytes) {
  longest_read.store_relaxed(bytes.value_or(0));
}

int injected_fault(io_call call) {
  const fault_hook& decide = hook();
  return decide ? decide(call) : 0;
}

std::optional<std::uint64_t> injected_free_space() { return free_space_bytes; }
int injected_thread_fault() noexcept { return thread_fault.load_relaxed(); }
std::optional<std::size_t> injected_longest_read() noexcept {
  const std::size_t bytes = longest_read.load_relaxed();
  return bytes != 0 ? std::optional(bytes) : std::nullopt;
}

}  // namespace isotherm::os
