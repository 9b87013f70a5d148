#include "heap/local.hpp"

#include <jemalloc/jemalloc.h>

#include "base/claimed_list.hpp"

namespace isotherm::heap {
namespace {

constexpr std::uint32_t kUnnumbered = ~std::uint32_t{0};

struct line_slot {
  counter_line line;
  std::uint32_t number = kUnnumbered;  // the owner's alone
  base::atomic<bool> claimed{false};
};

constinit base::claimed_list<line_slot, 64> lines;
constinit counter_line shared_line;
constinit base::atomic<std::uint32_t> next_number{0};

constinit local_state shared_state{&shared_line, true, 0, 0, MALLOCX_TCACHE_NONE};

int make_cache() noexcept {
  unsigned index = 0;
  std::size_t bytes = sizeof index;
  if (mallctl("tcache.create", &index, &bytes, nullptr, 0) != 0) return MALLOCX_TCACHE_NONE;
  return MALLOCX_TCACHE(index);
}

void control_cache(const char* control, int flags) noexcept {
  if (flags == MALLOCX_TCACHE_NONE) return;
  unsigned index = (static_cast<unsigned>(flags) >> 8U) - 2;  // inverse of MALLOCX_TCACHE
  mallctl(control, nullptr, nullptr, &index, sizeof index);
}

/// Owns a thread's state; its destructor is the thread's exit.
class owner {
 public:
  owner() noexcept : slot_(lines.claim()) {
    if (slot_ == nullptr) return;
    if (slot_->number == kUnnumbered) slot_->number = next_number.fetch_add_relaxed(1);
    state_ = local_state{&slot_->line, false, 0, slot_->number, make_cache()};
  }
  ~owner() {
    this_thread_state = &shared_state;  // for destructors of other thread-locals that free objects
    if (slot_ == nullptr) return;
    control_cache("tcache.destroy", state_.node_cache_flags);
    lines.give_back(*slot_);
  }
  owner(const owner&) = delete;
  owner& operator=(const owner&) = delete;
  local_state& state() noexcept { return slot_ != nullptr ? state_ : shared_state; }

 private:
  line_slot* slot_;
  local_state state_{};
};

}  // namespace

constinit thread_local local_state* this_thread_state = nullptr;

local_state& make_local() noexcept {
  static thread_local owner mine;
  this_thread_state = &mine.state();
  return *this_thread_state;
}

void flush_node_cache() noexcept { control_cache("tcache.flush", local().node_cache_flags); }

counted sum_counters(kind where) noexcept {
  counted sum;
  const auto add = [&sum, where](const counter_line& line) {
    sum.objects += line.objects[where].load_relaxed();
    sum.bytes += line.bytes[where].load_relaxed();
  };
  lines.for_each([&add](const line_slot& slot) { add(slot.line); });
  add(shared_line);
  return sum;
}

}  // namespace isotherm::heap
