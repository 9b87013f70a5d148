#include "lab/backends/system/swap_area.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "os/files/file.hpp"
#include "os/memory/swap.hpp"

namespace isotherm::lab {
namespace {

namespace fs = std::filesystem;

base::result<void> swap_on(system_changes& changes, const os::file& space, std::uint64_t bytes) {
  if (auto written = space.write(os::swap_header(bytes), 0); !written) return written;
  if (auto synced = space.sync(); !synced) return synced;
  if (auto noted = changes.note(change::swap, space.path()); !noted) return noted;
  return os::start_swap(space.path());
}

base::result<void> swap_in_file(system_changes& changes, const std::string& folder,
                                std::uint64_t bytes) {
  // The run that mends what this one leaves may start in another folder.
  const std::string path = fs::absolute(folder) / fmt::format("isotherm-swap-{}", ::getpid());
  if (auto noted = changes.note(change::file, path); !noted) return noted;
  const auto made = os::file::create(path);
  if (!made) return std::unexpected(made.error());
  std::error_code problem;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write, problem);
  if (problem) return std::unexpected(base::system_error("cannot close " + path, problem.value()));
  if (auto taken = made->take_space(0, bytes); !taken) return taken;
  return swap_on(changes, *made, bytes);
}

/// Adds a zram device: one that is there may have settings of another program. Returns its number.
base::result<std::string> add_zram(system_changes& changes) {
  const std::string added = read_text("/sys/class/zram-control/hot_add");
  if (added.empty()) {
    return std::unexpected(
        base::error{"this kernel has no zram: modprobe zram, or choose --swap file"});
  }
  if (auto noted = changes.note(change::added_zram, added); !noted) {
    return std::unexpected(noted.error());
  }
  return added;
}

base::result<std::string> swap_in_zram(system_changes& changes, std::uint64_t bytes) {
  const auto number = add_zram(changes);
  if (!number) return number;
  const std::string folder = "/sys/block/zram" + *number;
  if (auto sized = write_text(folder + "/disksize", std::to_string(bytes)); !sized) {
    return std::unexpected(sized.error());
  }
  const auto device = os::file::writable_in_place("/dev/zram" + *number);
  if (!device) return std::unexpected(device.error());
  if (auto on = swap_on(changes, *device, bytes); !on) return std::unexpected(on.error());
  return folder + "/mm_stat";
}

}  // namespace

base::result<swap_area> swap_area::make(system_changes& changes, swap_place place,
                                        const std::string& folder, std::uint64_t bytes) {
  if (place == swap_place::zram) {
    auto status = swap_in_zram(changes, bytes);
    if (!status) return std::unexpected(status.error());
    return swap_area(std::move(*status));
  }
  if (place == swap_place::file) {
    if (auto made = swap_in_file(changes, folder, bytes); !made) {
      return std::unexpected(made.error());
    }
  } else if (os::read_swap_space().total_bytes == 0) {
    return std::unexpected(
        base::error{"the system has no swap space: swapon some, or choose --swap file or zram"});
  }
  return swap_area({});
}

std::uint64_t swap_area::memory_bytes() const {
  if (status_.empty()) return 0;
  // orig_data_size, compr_data_size, mem_used_total, ...
  std::istringstream words(read_text(status_));
  std::uint64_t original = 0, compressed = 0, taken = 0;
  words >> original >> compressed >> taken;
  return taken;
}

}  // namespace isotherm::lab
