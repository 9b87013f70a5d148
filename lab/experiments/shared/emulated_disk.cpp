// A disk of a chosen speed, for measurements (FUSE).
//
//     emulated_disk IMAGE MOUNT
//
// MOUNT/disk has the bytes of the file IMAGE. A read of the disk takes the time to read IMAGE and,
// in addition, the microseconds last written to MOUNT/read_us (0 at first), however many reads are
// under way. Writes do not wait. A loop device over it (losetup --direct-io=on) is a disk to a file
// system. While the program is stopped (SIGSTOP) its disk answers nothing. Runs until the mount is
// undone, or a signal ends it.
#define FUSE_USE_VERSION 31

#include <fcntl.h>
#include <fuse3/fuse.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr std::string_view kDisk = "/disk", kSpeed = "/read_us";

int image = -1;
std::atomic<std::uint64_t> read_us{0};

int result_of(ssize_t call) { return call < 0 ? -errno : static_cast<int>(call); }

int attributes(const char* path, struct stat* found, fuse_file_info*) {
  *found = {};
  if (std::string_view(path) == "/") {
    found->st_mode = S_IFDIR | 0755;
    found->st_nlink = 2;
    return 0;
  }
  if (path == kDisk) return result_of(::fstat(image, found));
  if (path != kSpeed) return -ENOENT;
  found->st_mode = S_IFREG | 0600;
  found->st_nlink = 1;
  return 0;
}

int list(const char*, void* to, fuse_fill_dir_t add, off_t, fuse_file_info*, fuse_readdir_flags) {
  for (const std::string_view each : {kDisk, kSpeed}) {
    add(to, each.substr(1).data(), nullptr, 0, fuse_fill_dir_flags{});
  }
  return 0;
}

int open_file(const char* path, fuse_file_info* file) {
  file->direct_io = 1;  // the page cache would hide the disk's speed
  return path == kDisk || path == kSpeed ? 0 : -ENOENT;
}

int read_file(const char* path, char* to, std::size_t bytes, off_t offset, fuse_file_info*) {
  if (path != kDisk) return 0;
  if (const std::uint64_t us = read_us.load(); us > 0) {
    std::this_thread::sleep_for(std::chrono::microseconds(us));
  }
  return result_of(::pread(image, to, bytes, offset));
}

int write_file(const char* path, const char* from, std::size_t bytes, off_t offset,
               fuse_file_info*) {
  if (path == kDisk) return result_of(::pwrite(image, from, bytes, offset));
  std::uint64_t us = 0;
  if (std::from_chars(from, from + bytes, us).ec != std::errc()) return -EINVAL;
  read_us = us;
  return static_cast<int>(bytes);
}

int truncate_file(const char* path, off_t, fuse_file_info*) {
  return path == kSpeed ? 0 : -EPERM;  // a shell truncates what it writes to
}

int allocate(const char* path, int mode, off_t offset, off_t bytes, fuse_file_info*) {
  return path == kDisk ? result_of(::fallocate(image, mode, offset, bytes)) : -EPERM;
}

int sync_file(const char*, int, fuse_file_info*) { return 0; }

void* begin(fuse_conn_info* connection, fuse_config*) {
  // The kernel's defaults let twelve reads be under way.
  connection->max_background = 1024;
  connection->congestion_threshold = 1024;
  return nullptr;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: emulated_disk IMAGE MOUNT\n", stderr);
    return 2;
  }
  image = ::open(words[1], O_RDWR | O_CLOEXEC);
  if (image < 0) {
    std::fprintf(stderr, "emulated_disk: %s: %s\n", words[1], std::strerror(errno));
    return 1;
  }
  fuse_operations calls{};
  calls.getattr = &attributes;
  calls.readdir = &list;
  calls.open = &open_file;
  calls.read = &read_file;
  calls.write = &write_file;
  calls.truncate = &truncate_file;
  calls.fallocate = &allocate;
  calls.fsync = &sync_file;
  calls.init = &begin;
  std::string foreground = "-f", option = "-o", threads = "max_threads=256,max_idle_threads=256";
  std::array<char*, 5> arguments{words[0], foreground.data(), option.data(), threads.data(),
                                 words[2]};
  return fuse_main(static_cast<int>(arguments.size()), arguments.data(), &calls, nullptr);
}
