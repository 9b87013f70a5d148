#include "heap/local.hpp"

#include <jemalloc/jemalloc.h>

namespace isotherm::heap {
namespace {

struct line_slot {
  counter_line line;
  base::atomic<bool> claimed{false};
};

// The last line is the shared one. Zero-initialised: pages appear as threads claim lines.
constinit std::array<line_slot, kCounterLines + 1> lines;
constinit base::atomic<std::uint32_t> next_spread{0};

constinit local_state shared_state{&lines[kCounterLines].line, true, 0, 0, MALLOCX_TCACHE_NONE,
                                   MALLOCX_TCACHE_NONE};

int make_cache() noexcept {
  unsigned index = 0;
  std::size_t bytes = sizeof index;
  if (mallctl("tcache.create", &index, &bytes, nullptr, 0) != 0) return MALLOCX_TCACHE_NONE;
  return MALLOCX_TCACHE(index);
}

void control_cache(const char* what, int flags) noexcept {
  if (flags == MALLOCX_TCACHE_NONE) return;
  unsigned index = (static_cast<unsigned>(flags) >> 8U) - 2;  // inverse of MALLOCX_TCACHE
  mallctl(what, nullptr, nullptr, &index, sizeof index);
}

/// Acquire meets the release below: the new owner goes on from the last owner's sums.
line_slot* claim_line() noexcept {
  for (std::size_t i = 0; i < kCounterLines; ++i) {
    if (!lines[i].claimed.load_relaxed() && !lines[i].claimed.exchange_acq_rel(true)) {
      return &lines[i];
    }
  }
  return nullptr;
}

/// Owns a thread's state; its destructor is the thread's exit.
class owner {
 public:
  owner() noexcept : slot_(claim_line()) {
    if (slot_ == nullptr) return;
    state_ = local_state{&slot_->line, false,       0, next_spread.fetch_add_relaxed(1),
                         make_cache(), make_cache()};
  }
  ~owner() {
    this_thread_state = &shared_state;  // for destructors of other thread-locals that free objects
    if (slot_ == nullptr) return;
    control_cache("tcache.destroy", state_.fresh_cache_flags);
    control_cache("tcache.destroy", state_.node_cache_flags);
    slot_->claimed.store_release(false);
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

void flush_caches() noexcept {
  control_cache("tcache.flush", local().fresh_cache_flags);
  control_cache("tcache.flush", local().node_cache_flags);
}

counted sum_counters(std::size_t heap) noexcept {
  counted sum;
  for (const line_slot& slot : lines) {
    sum.objects += slot.line.objects[heap].load_relaxed();
    sum.bytes += slot.line.bytes[heap].load_relaxed();
  }
  return sum;
}

}  // namespace isotherm::heap
