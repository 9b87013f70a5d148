#include <cerrno>
#include <utility>

#include "heap/memory_name.hpp"
#include "heap/packed/backing.hpp"
#include "os/disk/cold_file.hpp"
#include "os/memory/address_space.hpp"

namespace isotherm::heap {
namespace {

/// Reads and writes go past the page cache: DRAM holds the pages that are not written yet, and
/// nothing else of the file.
class logged_file final : public backing {
 public:
  logged_file(os::file file, os::file direct) noexcept
      : file_(std::move(file)), direct_(std::move(direct)) {}

  bool is_logged() const noexcept override { return true; }
  std::string place() const override { return file_.path(); }
  const os::file* file() const noexcept override { return &file_; }

  base::result<void> take(std::size_t offset, std::size_t bytes) override;
  void give_back(std::size_t offset, std::size_t bytes) const noexcept override;
  base::result<void> write(std::size_t offset, std::size_t bytes) const override;
  void end_memory(std::size_t offset, std::size_t bytes) const noexcept override;
  base::result<void> read(std::span<std::byte> to, std::size_t offset) const override;

 private:
  const os::file file_;
  const os::file direct_;  // the same file
};

base::result<void> logged_file::take(std::size_t offset, std::size_t bytes) {
  // Before any object: what is put here finds room on the disk, and a full one refuses it now.
  if (auto taken = file_.take_space(offset, bytes); !taken) return taken;
  return os::commit(begin() + offset, bytes);
}

void logged_file::give_back(std::size_t offset, std::size_t bytes) const noexcept {
  if (is_frozen()) return;
  end_memory(offset, bytes);
  // A failure (a file system without holes) costs room, never correctness: the bytes are not
  // promised to be zero for objects.
  static_cast<void>(file_.punch_hole(offset, bytes));
}

base::result<void> logged_file::write(std::size_t offset, std::size_t bytes) const {
  return direct_.write({begin() + offset, bytes}, offset);
}

void logged_file::end_memory(std::size_t offset, std::size_t bytes) const noexcept {
  os::decommit(begin() + offset, bytes);
  name_memory(kind::cold, begin() + offset, bytes);
}

base::result<void> logged_file::read(std::span<std::byte> to, std::size_t offset) const {
  if (is_frozen()) {
    return std::unexpected(base::error{"a fork child cannot read its parent's COLD", EPERM});
  }
  auto done = direct_.read(to, offset);
  if (!done && done.error().code == 0) done.error().code = EIO;  // the file ended early
  return done;
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
      auto direct = file->past_the_cache();
      if (!direct) return std::unexpected(direct.error());
      return std::make_unique<logged_file>(std::move(*file), std::move(*direct));
    }};

}  // namespace isotherm::heap
