#include "heap/packed/backing.hpp"

#include <algorithm>

#include "base/page.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::heap {
namespace {

// Access is opened in steps: few system calls, and enough around each fault for huge pages.
constexpr std::size_t kCommitStep = std::size_t{32} << 20;

}  // namespace

base::result<void> backing::map(std::byte* begin, std::size_t bytes) {
  begin_ = begin;
  bytes_ = bytes;
  if (!file_) return {};
  if (auto mapped = os::map_file(begin, bytes, file_->descriptor(), 0); !mapped) return mapped;
  // One page a fault: read-ahead and fault-around would bring in what nobody asked for.
  return os::advise(begin, bytes, os::advice::random);
}

base::result<void> backing::take(std::size_t offset, std::size_t bytes) {
  if (file_) {
    // Before any store: a store to a hole of a full disk is SIGBUS.
    if (auto taken = file_->take_space(offset, bytes); !taken) return taken;
  }
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

void backing::give_back(std::size_t offset, std::size_t bytes) const noexcept {
  if (frozen_) return;
  // A failure (a file system without holes) costs memory, never correctness: the bytes are not
  // promised to be zero for objects.
  if (file_) {
    static_cast<void>(file_->punch_hole(offset, bytes));
  } else {
    static_cast<void>(os::advise(begin_ + offset, bytes, os::advice::discard));
  }
}

// MADV_PAGEOUT only unmaps dirty file pages and leaves them in the page cache, where a second one
// does not find them: they must be clean before it, and mapped until then.
base::result<void> backing::clean(std::size_t offset, std::size_t bytes) const {
  return file_ ? file_->write_back(offset, bytes) : base::result<void>();
}

base::result<void> backing::write_anew(std::size_t offset, std::size_t bytes) const {
  if (!file_) return {};
  const std::size_t count = bytes / base::kPageBytes;
  const auto is_there = os::resident_pages(begin_ + offset, count);
  if (!is_there) return std::unexpected(is_there.error());
  // What has left was on the disk, or is lost: to bring it back for this would be of no use.
  const auto first = is_there->begin(), last = is_there->end();
  for (auto at = std::find(first, last, true); at != last; at = std::find(at, last, true)) {
    const auto end = std::find(at, last, false);
    std::byte* const begin = begin_ + offset + (at - first) * std::ptrdiff_t{base::kPageBytes};
    const auto run = static_cast<std::size_t>(end - at) * base::kPageBytes;
    if (auto dirty = os::advise(begin, run, os::advice::dirty); !dirty) {
      return std::unexpected(
          base::error{"cannot write back " + file_->path() + " anew: " + dirty.error().message,
                      dirty.error().code});
    }
    at = end;
  }
  return {};
}

base::result<void> backing::drop(std::size_t offset, std::size_t bytes) const {
  return os::advise(begin_ + offset, bytes, os::advice::page_out);
}

}  // namespace isotherm::heap
