#include "heap/brake.hpp"

#include "os/clock.hpp"

namespace isotherm::heap {

namespace {
/// A thread that waits tells again after so many pieces.
constexpr int kPiecesATell = 10;
}  // namespace

constinit brake loading_brake;
constinit thread_local bool brake::owes_ = false;

void brake::wait(std::size_t count) noexcept {
  if (extents_left_.load_relaxed() == kUnlimited) [[likely]]
    return;
  const auto extents = static_cast<std::int64_t>(count);
  if (extents_left_.fetch_sub_relaxed(extents) >= extents) return;
  owes_ = true;
  tell();
  if (may_wait_here_ == nullptr || may_wait_here_()) wait_now();
}

void brake::wait_now() noexcept {
  owes_ = false;
  const std::uint64_t begin_ns = os::monotonic_ns();
  for (int piece = 0; piece < kPieces; ++piece) {
    os::sleep_us(kPieceUs);
    if (has_room()) break;
    if (piece % kPiecesATell == 0) tell();
  }
  count(os::monotonic_ns() - begin_ns);
}

void brake::count(std::uint64_t waited_ns) noexcept {
  waits_.fetch_add_relaxed(1);
  waited_us_.fetch_add_relaxed(waited_ns / 1000);
}

}  // namespace isotherm::heap
