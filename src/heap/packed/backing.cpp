#include "heap/packed/backing.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <span>

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

base::result<std::vector<base::page_span>> backing::runs_in_dram(std::size_t offset,
                                                                 std::size_t bytes) const {
  const auto is_there = os::resident_pages(begin_ + offset, bytes / base::kPageBytes);
  if (!is_there) return std::unexpected(is_there.error());
  std::vector<base::page_span> runs;
  const auto first = is_there->begin(), last = is_there->end();
  for (auto at = std::find(first, last, true); at != last; at = std::find(at, last, true)) {
    const auto end = std::find(at, last, false);
    runs.push_back({.offset = offset + static_cast<std::size_t>(at - first) * base::kPageBytes,
                    .bytes = static_cast<std::size_t>(end - at) * base::kPageBytes});
    at = end;
  }
  return runs;
}

base::result<void> backing::write_anew(std::size_t offset, std::size_t bytes) const {
  if (!file_) return {};
  // What has left was on the disk, or is lost: to bring it back for this would be of no use.
  const auto runs = runs_in_dram(offset, bytes);
  if (!runs) return std::unexpected(runs.error());
  for (const base::page_span& run : *runs) {
    if (auto dirty = os::advise(begin_ + run.offset, run.bytes, os::advice::dirty); !dirty) {
      return std::unexpected(
          base::error{"cannot write back " + file_->path() + " anew: " + dirty.error().message,
                      dirty.error().code});
    }
  }
  return {};
}

bool backing::is_on_disk(std::size_t offset, std::size_t bytes) const {
  if (!file_) return true;
  const auto direct = file_->past_the_cache();
  if (!direct) return direct.error().code == EINVAL;  // the file system has no such way
  const auto runs = runs_in_dram(offset, bytes);
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, 2 * bytes)), &std::free);
  if (!runs || memory == nullptr) return false;
  return std::ranges::all_of(*runs, [&](const base::page_span& run) {
    // From the page cache, which is what the mapping shows, and from the disk.
    const std::span<std::byte> cached(memory.get(), run.bytes),
        read(memory.get() + bytes, run.bytes);
    return file_->read(cached, run.offset) && direct->read(read, run.offset) &&
           std::ranges::equal(cached, read);
  });
}

base::result<void> backing::drop(std::size_t offset, std::size_t bytes) const {
  return os::advise(begin_ + offset, bytes, os::advice::page_out);
}

}  // namespace isotherm::heap
