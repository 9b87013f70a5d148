#include "heap/packed/backing.hpp"

#include <algorithm>
#include <cerrno>
#include <new>

#include "os/memory/address_space.hpp"
#include "os/memory/available_memory.hpp"

namespace isotherm::heap {
namespace {

// Access is opened in steps: few system calls, and enough around each fault for huge pages.
constexpr std::size_t kCommitStep = std::size_t{32} << 20;

}  // namespace

base::result<void> backing::map(std::byte* begin, std::size_t bytes) {
  begin_ = begin;
  bytes_ = bytes;
  return {};
}

base::result<void> backing::take(std::size_t offset, std::size_t bytes) {
  std::size_t committed = committed_.load_acquire();
  if (offset + bytes <= committed) return {};
  const std::size_t wanted = (offset + bytes + kCommitStep - 1) / kCommitStep * kCommitStep;
  const std::size_t end = std::min(wanted, bytes_);
  // Two threads may open the same access: each has opened all below its own end, or seen it open.
  if (auto opened = os::commit(begin_ + committed, end - committed); !opened) return opened;
  while (committed < end && !committed_.compare_exchange_acq_rel(committed, end)) {
  }
  return {};
}

base::result<void> backing::ask_control_groups(std::size_t bytes) try {
  // Left to threads that take memory between the question and the use of the pages.
  constexpr std::uint64_t kMargin = std::uint64_t{4} << 20;
  const auto room = os::control_group_room();
  if (!room || *room >= bytes + kMargin) return {};
  return std::unexpected(base::error{"the control group is near its limit of memory", ENOMEM});
} catch (const std::bad_alloc&) {
  return std::unexpected(base::error{{}, ENOMEM});
}

base::result<void> backing::drop(std::size_t offset, std::size_t bytes) const {
  return os::advise(begin_ + offset, bytes, os::advice::page_out);
}

base::result<void> backing::write(std::size_t, std::size_t) const {
  return std::unexpected(base::error{"this backing has no file", ENOTSUP});
}

void backing::end_memory(std::size_t, std::size_t) const noexcept {}

base::result<void> backing::read(std::span<std::byte>, std::size_t) const {
  return std::unexpected(base::error{"this backing has no file", ENOTSUP});
}

}  // namespace isotherm::heap
