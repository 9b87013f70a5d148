#include <algorithm>
#include <cerrno>
#include <utility>

#include "heap/packed/backing.hpp"
#include "os/files/dax.hpp"
#include "os/files/mapping.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/process_memory.hpp"

namespace isotherm::heap {
namespace {

/// A DAX device, or a file on a file system with DAX or in tmpfs, mapped as a whole.
class dax_memory final : public backing {
 public:
  explicit dax_memory(os::dax opened) noexcept : opened_(std::move(opened)) {}

  bool is_logged() const noexcept override { return false; }
  bool is_direct() const noexcept override { return true; }
  bool is_shared() const noexcept override { return true; }
  bool is_charged() const noexcept override { return opened_.is_charged; }
  bool is_in_resident_set() const noexcept override { return is_counted_.load_relaxed(); }
  std::string place() const override { return opened_.memory.path(); }
  base::result<void> map(std::byte* begin, std::size_t bytes) override {
    if (auto mapped = backing::map(begin, bytes); !mapped) return mapped;
    const std::uint64_t mapped = opened_.is_device() ? std::min(opened_.bytes, bytes) : bytes;
    return os::map_over(begin, mapped, opened_.memory);
  }
  /// A touch of pages for which the file has no room would be a SIGBUS: the room is taken first.
  base::result<void> take(std::size_t offset, std::size_t bytes) override {
    if (auto taken = take_room(offset, bytes); !taken) return taken;
    if (!was_asked_.exchange_acq_rel(true)) ask_whether_counted(offset);
    return {};
  }
  void give_back(std::size_t offset, std::size_t bytes) const noexcept override {
    if (opened_.is_device() || is_frozen()) return;
    static_cast<void>(opened_.memory.punch_hole(offset, bytes));
  }

 private:
  base::result<void> take_room(std::size_t offset, std::size_t bytes) {
    if (opened_.is_device()) {
      if (offset + bytes <= opened_.bytes) return {};
      return std::unexpected(base::error{"the device has no more memory", ENOSPC});
    }
    if (opened_.is_charged) {
      if (auto granted = ask_control_groups(bytes); !granted) return granted;
    }
    return opened_.memory.take_space(offset, bytes);
  }

  /// Linux counts pages of DAX in the resident set since it gives them reference counts, and did
  /// not before. The first page tells, once it is mapped, which older systems than 5.14 refuse;
  /// they count none. Walks the page tables.
  void ask_whether_counted(std::size_t offset) {
    static_cast<void>(
        os::advise(begin() + offset, os::page_bytes(), os::advice::populate_for_writing));
    const auto address = reinterpret_cast<std::uintptr_t>(begin() + offset);
    is_counted_.store_relaxed(os::resident_in(address, address + os::page_bytes()) > 0);
  }

  const os::dax opened_;
  base::atomic<bool> was_asked_{false};
  base::atomic<bool> is_counted_{true};
};

/// COLD with less would be full at once.
constexpr std::uint64_t kLeastBytes = std::uint64_t{64} << 20;

}  // namespace

constinit const backing_kind kDaxBacking{
    .name = "dax",
    .argument = "PATH",
    .help = "a DAX device, or an unlinked file in a directory on a file system with DAX or tmpfs",
    .describe =
        [](const std::string& path) {
          return backing_description{.leaves_for = "memory behind '" + path + "'",
                                     .room = "'" + path + "'",
                                     .directory = {},
                                     .is_direct = true};
        },
    .make = [](const std::string& path) -> base::result<std::unique_ptr<backing>> {
      auto opened = os::open_dax(path, kLeastBytes);
      if (!opened) return std::unexpected(opened.error());
      return std::make_unique<dax_memory>(std::move(*opened));
    }};

}  // namespace isotherm::heap
