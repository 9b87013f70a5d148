// The destination of a sort's bytes: a file that replaces another when it is complete, or a pipe, a
// terminal or another program's file, which take them as they come; compressed if that was asked
// for.
#pragma once

#include <memory>
#include <string>

#include "os/files/pending_file.hpp"
#include "sort/job/job.hpp"
#include "sort/packed/packed_output.hpp"

namespace isotherm::sort {

/// How bytes come to a destination.
enum class arrival {
  in_order,  ///< each behind the one before, and never read again
  anywhere   ///< at any offset; those of a stream, and what is to be compressed, wait in a file
};

class destination {
 public:
  /// Begins the output `path`. Files that wait lie in `directory`. `input` is not removed as the
  /// rest of a killed process. `packers` is packing_threads().
  static base::result<destination> open(const job& j, const std::string& path,
                                        const std::string& directory, const os::file& input,
                                        arrival how, unsigned packers);

  /// The file to write to.
  const os::file& handle() const noexcept;
  /// Returns `state`, how the writing ended; of an error the cause, if that is in the compression.
  base::result<void> explain(base::result<void> state);
  /// Waits until all bytes are where they belong, and on the device with the option `durable`.
  base::result<void> finish(job& j);
  /// The first part of finish(): afterwards only the name is missing, where there is one.
  base::result<void> prepare(job& j);
  /// The second part: gives a file its name.
  base::result<void> publish(job& j);
  /// Bytes of the output, after finish(); 0: as many as were written to handle().
  std::uint64_t packed_bytes() const noexcept { return packer_ ? packer_->bytes() : 0; }

 private:
  std::unique_ptr<os::pending_file> file_;  // null for a stream
  std::unique_ptr<os::file> stream_;        // null for a file
  std::unique_ptr<packed_output> packer_;
  os::file waiting_;  // not open if bytes need not wait
};

/// Number of threads that compress what is written to `path`: 0 if it is not compressed; else no
/// more than take an eighth of the memory limit, but one at least.
unsigned packing_threads(const sort_options& o, const std::string& path);

}  // namespace isotherm::sort
