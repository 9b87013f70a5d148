// A memory control group with a limit, for processes of a test.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

namespace isotherm::testing_help {

/// Made below the mount of version 1, or of version 2 where its root has the controller. The
/// processes that enter it must have ended before it goes.
class limited_group {
 public:
  explicit limited_group(std::uint64_t bytes) {
    const std::string name = "/isotherm-test-" + std::to_string(getpid());
    for (const auto& [mount, limit] : {std::pair("/sys/fs/cgroup/memory", "/memory.limit_in_bytes"),
                                       std::pair("/sys/fs/cgroup", "/memory.max")}) {
      std::error_code none;
      folder_ = mount + name;
      if (!std::filesystem::create_directory(folder_, none)) continue;
      is_made_ = std::filesystem::exists(folder_ + limit) && put(limit, bytes);
      if (is_made_) return;
      ::rmdir(folder_.c_str());
    }
  }
  ~limited_group() {
    if (is_made_) ::rmdir(folder_.c_str());
  }
  limited_group(const limited_group&) = delete;
  limited_group& operator=(const limited_group&) = delete;

  /// Returns whether there is one: it needs root, and a mount that may be written.
  bool is_made() const noexcept { return is_made_; }
  /// Moves the calling process into the group.
  bool enter() const { return put("/cgroup.procs", static_cast<std::uint64_t>(getpid())); }

 private:
  bool put(const std::string& file, std::uint64_t number) const {
    std::ofstream to(folder_ + file);
    to << number << std::flush;
    return to.good();
  }

  std::string folder_;
  bool is_made_ = false;
};

}  // namespace isotherm::testing_help
