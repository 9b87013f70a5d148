// The files of a split, to which several threads append records in the order of the input.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "sort/output/destination.hpp"
#include "sort/plan/context.hpp"
#include "sort/scan/record_blocks.hpp"

namespace isotherm::sort {

class part_files {
 public:
  /// Begins a file for each path. Files that wait lie in `directory`.
  static base::result<part_files> open(const job& j, const std::vector<std::string>& paths,
                                       const std::string& directory, const os::file& input);
  /// Writes the input's header to the front of all. Call before append(), by one thread.
  void write_header(const context& ctx);

  /// Records of one part that lie together in memory.
  struct group {
    std::span<const std::byte> bytes;
    std::uint64_t records = 0;
  };
  /// Appends a group to each part, for the block at [begin, end) of the input. Blocks of several
  /// threads get their places in the order of the input: a thread waits for the block before its
  /// own, then all write at the same time. Errors become the job's.
  void append(job& j, const record_blocks::block& b, std::span<const group> groups);
  /// Wakes threads that wait in append(), to see that the job has stopped: a thread calls it when
  /// it will append no more.
  void leave();
  /// Waits until all files are complete and gives them their names, one after the other.
  base::result<void> finish(job& j);

  std::uint64_t bytes(std::size_t part) const noexcept { return parts_[part].bytes; }
  std::uint64_t records(std::size_t part) const noexcept { return parts_[part].records; }

 private:
  struct part {
    destination file;
    std::uint64_t bytes = 0;  // written, or about to be
    std::uint64_t records = 0;
  };
  std::vector<part> parts_;  // bytes and records: guarded by turn_
  struct turn {
    std::mutex lock;
    std::condition_variable changed;
    std::uint64_t next = 0;  // offset of the block whose turn it is
  };
  std::unique_ptr<turn> turn_ = std::make_unique<turn>();
};

}  // namespace isotherm::sort
