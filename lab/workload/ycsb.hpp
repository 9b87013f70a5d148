// The six core workloads of YCSB as streams of operations.
//
//   a  50% read, 50% update               d  95% read, 5% insert; latest
//   b  95% read,  5% update               e  95% scan (1..100 records), 5% insert
//   c  100% read                          f  50% read, 50% read-modify-write
//
// A stream makes a batch of key numbers at a time, before the operations are timed. Each batch has
// random numbers of its own, so that a stream can be repeated from any of its batches on.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/random.hpp"
#include "lab/workload/generators.hpp"

namespace isotherm::workload {

/// The last three are none of YCSB's. A deleted record comes back with its next update. incr counts
/// in a key beside the record's.
enum class operation : std::uint8_t { read, update, insert, scan, modify, remove, multiget, incr };
inline constexpr std::size_t kOperations = 8;
/// Its name in reports and in parse_mix().
const char* name_of(operation kind) noexcept;

/// Shares of the operations, in percent; they add up to 100.
struct mix {
  unsigned read = 0, update = 0, insert = 0, scan = 0, modify = 0, remove = 0, multiget = 0,
           incr = 0;
};
/// Parses "read=90,update=5,delete=5": names of operations, each at most once.
base::result<mix> parse_mix(const std::string& text);

/// One of the six.
struct ycsb_workload {
  char letter = 'c';
  mix shares;
  distribution keys = distribution::zipfian;
};
/// Parses "a".."f", also in capitals.
base::result<ycsb_workload> parse_workload(const std::string& text);

/// Greatest number of records of a scan.
inline constexpr unsigned kLongestScan = 100;

/// Records that a multiget reads.
inline constexpr unsigned kMultiget = 10;

/// An operation to do. `key` is a key number, or an age when the chooser draws ages, and means
/// nothing for an insert, whose number is given out when it runs.
struct request {
  std::uint64_t key = 0;
  operation kind = operation::read;
  std::uint8_t scan_length = 0;
  std::uint32_t more = 0;  ///< of a multiget: a seed of its other keys
};

/// Requests that a driver takes from a stream at a time.
inline constexpr std::size_t kBatch = 1024;

/// A thread's endless sequence, the same for the same seed, thread and size of batches, and, of
/// ages, the same growth.
class request_stream {
 public:
  request_stream(const mix& shares, const key_chooser& chooser, std::uint64_t seed,
                 unsigned thread) noexcept
      : shares_(shares), chooser_(chooser), seed_(base::mix64(base::mix64(seed) + thread)) {}

  void fill(std::span<request> batch) noexcept;
  /// Key numbers, or ages, of a multiget of the last batch.
  std::array<std::uint64_t, kMultiget> keys_of(const request& multiget) const noexcept;
  /// Draws ages from the batch after this one on below `records`, those that are there now.
  void grow_to(std::uint64_t records) noexcept { chooser_.grow_to(records); }
  /// Leaves so many batches out.
  void skip(std::uint64_t batches) noexcept { next_batch_ += batches; }

 private:
  std::uint64_t next_key(std::uint64_t& place, base::random& random) const noexcept;

  mix shares_;
  key_chooser chooser_;
  std::uint64_t seed_;
  std::uint64_t next_batch_ = 0;
};

}  // namespace isotherm::workload
