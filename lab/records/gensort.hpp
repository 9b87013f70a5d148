// The records of the sort benchmark (sortbenchmark.org), by record number: any part of the data set
// can be made anywhere, in parallel, and parts concatenate to the whole. Binary and ASCII records
// are byte for byte those of gensort 1.5, but for skewed keys, whose distribution is our own.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>

#include "base/error.hpp"
#include "sort/checksum.hpp"
#include "tool/progress.hpp"

namespace isotherm::lab {

inline constexpr std::size_t kGensortRecord = 100;
inline constexpr std::size_t kGensortKey = 10;

inline constexpr unsigned kMostThreads = 256;       ///< more serve no device, and each takes memory
inline constexpr std::size_t kBatchRecords = 8192;  ///< that a thread makes or checks at a time

using sort::uint128;

/// The records to generate.
struct gensort_options {
  std::uint64_t first = 0;  ///< number of the first record
  std::uint64_t count = 0;  ///< records
  bool ascii = false;       ///< printable records that end in CR LF
  bool skewed = false;   ///< keys repeat: rank r appears with probability about 1/r (docs/sort.md)
  unsigned threads = 1;  ///< at most kMostThreads work
  tool::record_progress progress{};
  /// When a stop is requested, the work ends soon, leaves nothing, and returns an error of code
  /// EINTR.
  std::stop_token stop{};
};

/// State of the generator after `n` + 1 steps: the random number of record `n`. O(log n).
uint128 gensort_random(std::uint64_t n) noexcept;

/// Writes record `n` of the data set that `set` describes (of it `ascii` and `skewed` count) into
/// `record`; `random` is gensort_random(n).
void gensort_record(std::uint64_t n, uint128 random, const gensort_options& set,
                    std::span<std::byte, kGensortRecord> record) noexcept;

/// Lower-case hexadecimal without leading zeros, as gensort -c prints it.
std::string checksum_text(uint128 sum);
/// The number that checksum_text() printed; an error for any other text.
base::result<uint128> parse_checksum(const std::string& text);

/// Returns how many of `asked` threads (0 counts as 1) get one of `records` each, at most
/// kMostThreads.
unsigned threads_for(std::uint64_t records, unsigned asked) noexcept;

/// Writes the records to a new file that takes the name `path` when it is complete; an existing
/// file is replaced only then. Returns the checksum of the records.
base::result<uint128> gensort_file(const std::string& path, const gensort_options& options);

}  // namespace isotherm::lab
