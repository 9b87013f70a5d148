#include "device/stream.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "os/clock.hpp"

namespace isotherm::device {
namespace {

constexpr double kShortestWaitNs = 60'000;  // shorter debts are carried over, not slept off

}  // namespace

stream_group::stream_group(emulation* device, access kind, unsigned streams) noexcept
    : device_(device), kind_(kind), streams_(streams) {
  if (device_ != nullptr) device_->open(kind_).fetch_add_relaxed(streams_);
}

stream_group::~stream_group() {
  if (device_ != nullptr) device_->open(kind_).fetch_sub_relaxed(streams_);
}

stream::stream(emulation* device, access kind) noexcept
    : device_(device), kind_(kind), counts_(true) {
  if (device_ == nullptr) return;
  device_->open(kind_).fetch_add_relaxed(1);
  begin();
}

stream::stream(const stream_group& of) noexcept
    : device_(of.device_), kind_(of.kind_), counts_(false) {
  begin();
}

stream::~stream() {
  if (device_ != nullptr && counts_) device_->open(kind_).fetch_sub_relaxed(1);
}

void stream::begin() noexcept {
  if (device_ == nullptr || device_->clock_ == emulation_clock::account) return;
  start_ns_ = static_cast<double>(os::monotonic_ns());
}

base::result<void> stream::read(const os::file& from, std::span<std::byte> target,
                                std::uint64_t offset) {
  begin();
  auto done = from.read(target, offset);
  if (done) touched(1, target.size());
  return done;
}

base::result<void> stream::write(const os::file& to, std::span<const std::byte> source,
                                 std::uint64_t offset) {
  begin();
  auto done = to.write(source, offset);
  if (done) touched(1, source.size());
  return done;
}

void stream::touched(std::uint64_t accesses, std::uint64_t bytes_each,
                     std::uint64_t stride) noexcept {
  if (device_ == nullptr || accesses == 0 || bytes_each == 0) return;
  const unsigned writers = device_->writers_.load_relaxed();
  const unsigned streams =
      std::max(1u, kind_ == access::write ? writers : device_->readers_.load_relaxed());
  const model::cost c =
      device_->model_.cost_of(kind_, streams, accesses, bytes_each, stride, writers);
  const double asked = start_ns_ - overslept_ns_;
  double served;
  {
    const std::lock_guard guard(device_->lock_);
    device_->next_free_ns_ = std::max(device_->next_free_ns_, asked) + c.device_ns;
    served = device_->next_free_ns_;
  }
  wait_until(std::max(served, asked + c.line_ns));
}

void stream::wait_until(double target) noexcept {
  if (device_->clock_ == emulation_clock::account) {
    start_ns_ = target;
    return;
  }
  double now = static_cast<double>(os::monotonic_ns());
  if (target - now > kShortestWaitNs) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(static_cast<std::int64_t>(target - now)));
    now = static_cast<double>(os::monotonic_ns());
    overslept_ns_ = std::max(0.0, now - target);
  } else {
    // Negative when the wait was too short to sleep: the next access starts that much later.
    overslept_ns_ = std::min(0.0, now - target);
  }
  start_ns_ = now;
}

}  // namespace isotherm::device
