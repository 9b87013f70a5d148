#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "base/page.hpp"
#include "heap/packed/backing.hpp"
#include "os/files/cold_file.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/residency.hpp"

namespace isotherm::heap {
namespace {

class mapped_file final : public backing {
 public:
  explicit mapped_file(os::file file) noexcept : file_(std::move(file)) {}

  bool is_on_disk() const noexcept override { return true; }
  std::string place() const override { return file_.path(); }
  std::string why_pages_stay() const override { return {}; }
  const os::file* file() const noexcept override { return &file_; }

  base::result<void> map(std::byte* begin, std::size_t bytes) override;
  base::result<void> take(std::size_t offset, std::size_t bytes) override;
  void give_back(std::size_t offset, std::size_t bytes) const noexcept override;
  base::result<void> clean(std::size_t offset, std::size_t bytes) const override;
  base::result<void> write_anew(std::size_t offset, std::size_t bytes) const override;
  bool is_written(std::size_t offset, std::size_t bytes) const override;

 private:
  /// Returns the runs of these pages that are in DRAM.
  base::result<std::vector<base::page_span>> runs_in_dram(std::size_t offset,
                                                          std::size_t bytes) const;
  os::file file_;
};

base::result<void> mapped_file::map(std::byte* begin, std::size_t bytes) {
  if (auto laid = backing::map(begin, bytes); !laid) return laid;
  if (auto mapped = os::map_file(begin, bytes, file_.descriptor(), 0); !mapped) return mapped;
  // One page a fault: read-ahead and fault-around would bring in pages that no thread asked for.
  return os::advise(begin, bytes, os::advice::random);
}

base::result<void> mapped_file::take(std::size_t offset, std::size_t bytes) {
  // Before any store: a store to a hole of a full disk is SIGBUS.
  if (auto taken = file_.take_space(offset, bytes); !taken) return taken;
  return backing::take(offset, bytes);
}

void mapped_file::give_back(std::size_t offset, std::size_t bytes) const noexcept {
  if (is_frozen()) return;
  // A failure (a file system without holes) costs room, never correctness: the bytes are not
  // promised to be zero for objects.
  static_cast<void>(file_.punch_hole(offset, bytes));
}

// MADV_PAGEOUT only unmaps dirty file pages and leaves them in the page cache, where a second one
// does not find them: they must be clean before it, and mapped until then.
base::result<void> mapped_file::clean(std::size_t offset, std::size_t bytes) const {
  return file_.write_back(offset, bytes);
}

base::result<std::vector<base::page_span>> mapped_file::runs_in_dram(std::size_t offset,
                                                                     std::size_t bytes) const {
  const auto is_there = os::resident_pages(begin() + offset, bytes / base::kPageBytes);
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

base::result<void> mapped_file::write_anew(std::size_t offset, std::size_t bytes) const {
  // A page that has left was on the disk, or is lost: it is not brought back for this.
  const auto runs = runs_in_dram(offset, bytes);
  if (!runs) return std::unexpected(runs.error());
  for (const base::page_span& run : *runs) {
    if (auto dirty = os::advise(begin() + run.offset, run.bytes, os::advice::dirty); !dirty) {
      return std::unexpected(
          base::error{"cannot write back " + file_.path() + " anew: " + dirty.error().message,
                      dirty.error().code});
    }
  }
  return {};
}

bool mapped_file::is_written(std::size_t offset, std::size_t bytes) const {
  const auto direct = file_.past_the_cache();
  if (!direct) return direct.error().code == EINVAL;  // the file system has no such way
  const auto runs = runs_in_dram(offset, bytes);
  const std::unique_ptr<std::byte, decltype(&std::free)> memory(
      static_cast<std::byte*>(std::aligned_alloc(base::kPageBytes, 2 * bytes)), &std::free);
  if (!runs || memory == nullptr) return false;
  return std::ranges::all_of(*runs, [&](const base::page_span& run) {
    // From the page cache, as the mapping shows it, and from the disk.
    const std::span<std::byte> cached(memory.get(), run.bytes),
        read(memory.get() + bytes, run.bytes);
    return file_.read(cached, run.offset) && direct->read(read, run.offset) &&
           std::ranges::equal(cached, read);
  });
}

}  // namespace

constinit const backing_kind kFileBacking{
    .name = "file",
    .argument = "DIR",
    .help = "an unlinked file in a directory on a disk",
    .describe =
        [](const std::string& directory) {
          return backing_description{
              .leaves_for = "an unlinked file in " + directory + ", of which nothing stays behind",
              .room = "'" + directory + "'",
              .directory = directory};
        },
    .make = [](const std::string& directory) -> base::result<std::unique_ptr<backing>> {
      auto file = os::open_cold_file(directory);
      if (!file) return std::unexpected(file.error());
      return std::make_unique<mapped_file>(std::move(*file));
    }};

}  // namespace isotherm::heap
