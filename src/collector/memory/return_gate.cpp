#include "collector/memory/return_gate.hpp"

#include <algorithm>
#include <limits>

#include "base/random.hpp"

namespace isotherm::collector {

namespace {
constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();
}  // namespace

void return_gate::write(const rules& now) noexcept {
  seed_.store_relaxed(now.ties.seed);
  most_.store_relaxed(now.ties.most);
  for (std::size_t history = 0; history < answers_.size(); ++history) {
    answers_[history].store_relaxed(pack(now.answers[history]));
  }
}

void return_gate::allow(std::uint64_t bytes) noexcept {
  room_.store_relaxed(bytes == kUnlimited ? kEndless : static_cast<std::int64_t>(bytes));
}

returned return_gate::take_returned() noexcept {
  // An object that comes back meanwhile may be counted in two parts, its number now and its bytes
  // next time or the other way round.
  return {objects_.exchange_acq_rel(0), bytes_.exchange_acq_rel(0)};
}

std::optional<unsigned> return_gate::admit(guides::word w, std::size_t bytes,
                                           heap::used_before before) noexcept {
  asked_.fetch_add_relaxed(1);
  const std::uint32_t found = answers_[guides::history_of(w)].load_relaxed();
  const auto below = found >> 16U & 0xffU, drawn = found >> 24U;
  const unsigned size_class = guides::size_class_of(w);
  const draw ties{seed_.load_relaxed(), most_.load_relaxed()};
  const bool wins_draw = size_class < drawn && ties.says(w);
  const bool is_worth_it = size_class < below || wins_draw;
  if (!is_worth_it && before == heap::used_before::no) return std::nullopt;
  // Taken by note_returned(): of those that ask at the same time each may come back.
  if (room_.load_relaxed() < static_cast<std::int64_t>(bytes)) return std::nullopt;
  return found & 0xffffU;
}

void return_gate::note_returned(std::size_t bytes) noexcept {
  objects_.fetch_add_relaxed(1);
  bytes_.fetch_add_relaxed(bytes);
  if (room_.load_relaxed() != kEndless) {
    room_.fetch_sub_relaxed(static_cast<std::int64_t>(bytes));
  }
}

return_gate& gate() {
  static auto* const made = new return_gate;  // outlives every static destructor
  return *made;
}

void count_returned(const returned& since, window_statistics& seen) noexcept {
  seen.promoted.objects += since.objects;
  seen.promoted.bytes += since.bytes;
  seen.accessed_cold_objects += since.objects;
  seen.accessed_cold_pages += since.objects;
}

}  // namespace isotherm::collector
