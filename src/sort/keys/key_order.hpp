// The order of lines by the keys that the options name. A key that is a part of its line, in the
// order of its bytes, is used where it lies. All other keys of a line are made into one key whose
// bytes are in that order, so that everything else compares bytes only: numbers become sequences
// that order as they do, text that is followed by another key gets an end, keys in reverse order
// are complemented, and columns of CSV lose their quotes.
#pragma once

#include <isotherm/sort.hpp>

#include <vector>

#include "sort/keys/fields.hpp"
#include "sort/keys/numbers.hpp"

namespace isotherm::sort {

/// Does not change, so that all threads may use it.
class key_order {
 public:
  explicit key_order(const sort_options& options);

  /// Whether keys have to be made.
  bool made() const noexcept { return made_; }
  /// Whether the key is the line.
  bool whole_line() const noexcept { return keys_.empty(); }

  /// Finds the key where it lies. Requires: !made(). Lines are without their ends.
  part find(bytes_view line) const {
    return keys_.empty() ? part{0, line.size()} : keys_.front().finder.find(line);
  }
  part find(std::uint64_t bytes, const key_finder::reading& read) const;
  /// Makes the key of a line into `key`, whose memory is used again. Bytes behind the first
  /// `enough` may be missing. Requires: made().
  void make(bytes_view line, made_key& key, std::size_t enough = SIZE_MAX) const;
  /// Returns the bytes that the made key of a line of `bytes` bytes needs at most, if those of its
  /// keys that end before the line ends do not overlap, and their text has no bytes 0 and 1.
  std::uint64_t most_made_bytes(std::uint64_t bytes) const noexcept;
  /// Returns the text of all keys as it stands in the line, with separators between them: what -t
  /// names or, without it, tabs, and commas in CSV.
  made_key text(bytes_view line) const;

 private:
  struct one {
    sort_key key;
    key_finder finder;
  };
  part find(const one& k, bytes_view line) const;
  bytes_view text_of(const one& k, bytes_view line, std::vector<std::byte>& room) const;
  void append(const one& k, bytes_view text, made_key& key, std::size_t enough) const;

  std::vector<one> keys_;
  bool csv_;
  bool made_;
  bool reverse_;  // order of entries: made keys are as they are to be in it
  std::byte separator_;
  std::uint64_t seed_;
};

}  // namespace isotherm::sort
