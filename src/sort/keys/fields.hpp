// Finds where a key begins and ends in a line, by the rules of GNU sort.
#pragma once

#include <isotherm/sort.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

namespace isotherm::sort {

using bytes_view = std::span<const std::byte>;

/// A part of a line, in bytes from its beginning.
struct part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// The blanks that separate fields where no separator is given, and that numbers may begin with.
inline constexpr bool is_blank(std::byte b) noexcept {
  return b == std::byte{' '} || b == std::byte{'\t'} || b == std::byte{'\n'};
}

/// Finds one key in lines.
class key_finder {
 public:
  key_finder(const sort_key& key, std::optional<char> separator);

  /// Returns up to `most` bytes of a line from `offset` on; none after an error.
  using reading = std::function<bytes_view(std::uint64_t offset, std::uint64_t most)>;
  /// Finds the key in a line of `bytes` bytes, its terminator not counted, that is read in pieces.
  part find(std::uint64_t bytes, const reading& read) const;
  /// Finds the key in a line that is in memory.
  part find(bytes_view line) const;

 private:
  /// A place in a line: behind so many fields, then blanks, then characters.
  struct place {
    std::uint64_t fields = 0;
    bool skips_blanks = false;
    std::uint64_t chars = 0;
    bool before_separator = false;  // of the last of `fields`, where there is one
  };
  class search;
  template <class Read>
  part find_by(std::uint64_t bytes, const Read& read) const;

  place begin_;
  place end_;
  bool to_end_of_line_;
  std::optional<std::byte> separator_;
};

}  // namespace isotherm::sort
