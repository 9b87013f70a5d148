// The input: read where it lies when the memory limit allows the mapping, by calls when it does not
// (mapped pages count as the process's memory).
#pragma once

#include <string>
#include <vector>

#include "device/io.hpp"
#include "sort/job.hpp"

namespace isotherm::sort {

class source {
 public:
  static base::result<source> open(const std::string& path);
  /// The file that `f` is a handle of.
  static base::result<source> of(device::file f);

  /// From now on the input is read through a mapping.
  base::result<void> map();
  /// An error if the file was written to since.
  base::result<void> check_unchanged() const;
  std::uint64_t size() const noexcept { return state_.bytes; }
  const std::byte* mapped() const noexcept { return mapping_.data(); }
  const device::file& handle() const noexcept { return file_; }

 private:
  device::file file_;
  device::mapping mapping_;
  device::file_state state_;
};

/// One thread's view of the input.
class source_view {
 public:
  /// A read by call fetches `ahead` bytes at the least, which serves later calls.
  source_view(job& j, const source& s, std::size_t ahead = 0)
      : job_(j), source_(s), ahead_(ahead) {}
  /// Changes `ahead`.
  void read_ahead(std::size_t bytes) noexcept { ahead_ = bytes; }

  /// The bytes [offset, offset + n) of the input, which must lie in it; valid until the next call.
  /// Null after an error, which is the job's then.
  const std::byte* bytes(std::uint64_t offset, std::size_t n) {
    if (const std::byte* m = source_.mapped()) return m + offset;
    return read(offset, n);
  }
  std::uint64_t size() const noexcept { return source_.size(); }
  /// Whether an error or the user's interrupt ends the sort.
  bool stopped() const noexcept { return job_.stopped(); }
  bool mapped() const noexcept { return source_.mapped() != nullptr; }
  /// Bytes that calls have read so far.
  std::uint64_t fetched() const noexcept { return fetched_; }

 private:
  const std::byte* read(std::uint64_t offset, std::size_t n);

  job& job_;
  const source& source_;
  std::size_t ahead_;
  std::uint64_t fetched_ = 0;
  std::vector<std::byte> scratch_;
  std::uint64_t at_ = 0;  // of what is held in scratch_
  std::size_t held_ = 0;
};

}  // namespace isotherm::sort
