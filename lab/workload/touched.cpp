#include "lab/workload/touched.hpp"

namespace isotherm::workload {

touched_keys::ages touched_keys::advance() noexcept {
  const unsigned now = now_.load_relaxed();
  const unsigned next = now % kCycle + 1;
  // New uses carry the next window's number from here on; they count as age 0 below.
  now_.store_relaxed(static_cast<std::uint8_t>(next));
  ages by_age{};
  for (auto& last : last_) {
    const unsigned window = last.load_relaxed();
    if (window == kNever) continue;
    const unsigned age = window == next ? 0 : (now + kCycle - window) % kCycle;
    if (age < kWindows) {
      ++by_age[age];
    } else {
      // Forgotten, unless a thread uses the key just now.
      std::uint8_t expected = static_cast<std::uint8_t>(window);
      last.compare_exchange_weak_relaxed(expected, kNever);
    }
  }
  return by_age;
}

std::vector<touched_keys::last_use> touched_keys::last_uses() const {
  const unsigned now = now_.load_relaxed();
  std::vector<last_use> found;
  for (std::uint64_t number = 0; number < last_.size(); ++number) {
    const unsigned window = last_[number].load_relaxed();
    if (window == kNever || window == now) continue;
    const unsigned age = (now + kCycle - window) % kCycle - 1;
    if (age < kWindows) found.push_back({number, age});
  }
  return found;
}

}  // namespace isotherm::workload
