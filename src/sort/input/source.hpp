// The input: mapped when the memory limit allows it (mapped pages count as the process's memory),
// read by system calls when it does not.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "os/files/file.hpp"
#include "os/files/mapping.hpp"
#include "sort/job/job.hpp"

namespace isotherm::sort {

/// An input file, open for reading.
class source {
 public:
  /// Opens a file that can be read where it lies (os/files/spool.hpp); an error for any other.
  static base::result<source> open(const std::string& path);
  /// Opens a file that can be read where it lies. Several files, and inputs of other kinds, are
  /// first copied, one after the other: in memory while they fit in `room` bytes, else to a file
  /// without a name in `directory`. Compressed inputs are decompressed with the option `unpack`.
  static base::result<source> open_or_copy(job& j, const std::vector<std::string>& paths,
                                           const std::string& directory, std::uint64_t room);
  /// Reads `bytes`, which must stay valid and unchanged, in place of a file.
  static source over(std::span<const std::byte> bytes);
  /// Takes over the open file `f`.
  static base::result<source> of(os::file f);

  /// Whether the input is a copy in memory.
  bool in_memory() const noexcept { return in_memory_; }
  /// Moves such a copy to a file without a name in `directory`. Nothing may have been mapped.
  base::result<void> leave_memory(const std::string& directory);

  /// Maps the input; from now on it is read through the mapping.
  base::result<void> map();
  /// An error if the file has changed since it was opened.
  base::result<void> check_unchanged() const;
  std::uint64_t size() const noexcept { return state_.bytes; }
  /// Returns the bytes of the header at the front of the input. An error if it cannot be read, or
  /// opens a quote that it does not close.
  base::result<std::uint64_t> header_bytes(const sort_options& options) const;
  /// The whole input, if it is mapped or was memory from the beginning; otherwise null.
  const std::byte* mapped() const noexcept { return whole_; }
  const os::file& handle() const noexcept { return file_; }

  /// From now on serves the input's bytes at `offset` from `bytes`, which must stay valid, instead
  /// of by calls. Replaces what was held before. No view may be in use.
  void hold(std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
    held_ = bytes;
    held_at_ = offset;
  }
  bool holds_piece() const noexcept { return !held_.empty(); }
  /// The bytes [offset, offset + n) if they are in memory, mapped or held; otherwise null.
  const std::byte* at_hand(std::uint64_t offset, std::uint64_t n) const noexcept {
    if (whole_ != nullptr) return whole_ + offset;
    if (offset < held_at_ || n > held_.size() || offset - held_at_ > held_.size() - n) {
      return nullptr;
    }
    return held_.data() + (offset - held_at_);
  }
  /// Notes the length of a klv record or line that does not fit in its entry. Lengths are read from
  /// the input only once, when entries are made, because another process may write to the file.
  /// Only for the loader's thread, while no other thread calls noted_length().
  void note_length(std::uint64_t offset, std::uint64_t bytes) const;
  /// The length noted last for the record at `offset`; one must have been noted.
  std::uint64_t noted_length(std::uint64_t offset) const;

 private:
  os::file file_;
  os::mapping mapping_;
  const std::byte* whole_ = nullptr;  // mapping_'s, or the caller's
  os::file_state state_;
  std::span<const std::byte> held_;
  std::uint64_t held_at_ = 0;
  mutable std::map<std::uint64_t, std::uint64_t> lengths_;  // by offset; records of 16 MiB and more
  bool in_memory_ = false;
  std::optional<std::uint64_t> header_bytes_;  // if several inputs were copied
};

/// One thread's view of the input.
class source_view {
 public:
  /// A read by call fetches at least `ahead` bytes; those that were not asked for serve later
  /// calls.
  source_view(job& j, const source& s, std::size_t ahead = 0)
      : job_(j), source_(s), ahead_(ahead) {}
  /// Changes `ahead`.
  void read_ahead(std::size_t bytes) noexcept { ahead_ = bytes; }

  /// The bytes [offset, offset + n) of the input, which must lie in it; valid until the next call.
  /// Null after an error, which becomes the job's.
  const std::byte* bytes(std::uint64_t offset, std::size_t n) {
    if (const std::byte* m = source_.at_hand(offset, n)) return m;
    return read(offset, n);
  }
  /// The same bytes if they are in memory, where they stay valid beyond the next call; otherwise
  /// null.
  const std::byte* at_hand(std::uint64_t offset, std::size_t n) const noexcept {
    return source_.at_hand(offset, n);
  }
  /// Room for a key that is made of a record, and for one that is compared with it.
  std::vector<std::byte>& room(unsigned which) noexcept { return rooms_[which]; }
  std::uint64_t size() const noexcept { return source_.size(); }
  std::uint64_t noted_length(std::uint64_t offset) const { return source_.noted_length(offset); }
  /// Whether an error or the user's interrupt has ended the sort.
  bool stopped() const noexcept { return job_.stopped(); }
  bool mapped() const noexcept { return source_.mapped() != nullptr; }
  /// Whether the input is mapped, or a piece of it is held in memory.
  bool in_memory() const noexcept { return mapped() || source_.holds_piece(); }
  /// Bytes that calls have read so far.
  std::uint64_t fetched() const noexcept { return fetched_; }

 private:
  const std::byte* read(std::uint64_t offset, std::size_t n);

  job& job_;
  const source& source_;
  std::size_t ahead_;
  std::uint64_t fetched_ = 0;
  std::array<std::vector<std::byte>, 2> rooms_;
  std::vector<std::byte> scratch_;
  std::uint64_t at_ = 0;  // scratch_ holds held_ bytes from at_ of the input on
  std::size_t held_ = 0;
};

}  // namespace isotherm::sort
