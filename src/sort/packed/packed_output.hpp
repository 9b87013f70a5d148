// An output that is compressed on its way: by several threads, each a piece of it at a time.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <vector>

#include "os/files/file.hpp"
#include "os/thread.hpp"
#include "sort/packed/packing.hpp"

namespace isotherm::sort {

/// Memory that each thread of a packed_output takes, in bytes.
inline constexpr std::uint64_t kPackerBytes = 4 << 20;

/// A pipe whose other end compresses what comes, and writes it to a file. Not movable.
class packed_output {
 public:
  /// Writes files of `format` to `to`, which must outlive it.
  packed_output(sort_packing format, const os::file& to) : format_(format), to_(to) {}
  ~packed_output();
  packed_output(const packed_output&) = delete;
  packed_output& operator=(const packed_output&) = delete;

  /// Starts `threads` threads that compress; there are fewer if the system gives fewer, but one at
  /// least.
  base::result<void> start(unsigned threads);
  /// Returns the end that takes the bytes; writes to it go in order (os/files/file.hpp).
  const os::file& entrance() const noexcept { return entrance_; }
  /// Waits until all is compressed and written; nothing may be written afterwards. An error of
  /// compressing or writing, of which the writer at the entrance has only seen that nobody reads.
  base::result<void> finish();
  /// Bytes written to the file so far; all of them after finish().
  std::uint64_t bytes() const noexcept { return written_; }

 private:
  void work();
  base::result<std::vector<std::byte>> next_piece(std::uint64_t& number);
  base::result<void> write_in_turn(const std::vector<std::byte>& frame, std::uint64_t number);
  void fail(base::error error);

  const sort_packing format_;
  const os::file& to_;
  os::file entrance_;
  std::vector<os::thread> threads_;
  std::mutex reading_;  // guards exit_ and pieces_
  os::file exit_;
  std::uint64_t pieces_ = 0;  // read so far
  std::mutex writing_;        // guards the rest
  std::condition_variable turn_;
  std::uint64_t frames_ = 0;  // written so far
  std::uint64_t written_ = 0;
  base::result<void> state_;
};

}  // namespace isotherm::sort
