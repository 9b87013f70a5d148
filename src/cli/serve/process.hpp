// Parts of its process that the server needs: signals, descriptors, a file with its number.
#pragma once

#include <signal.h>

#include <cstdint>
#include <string>

#include "server/options.hpp"

namespace isotherm::cli {

/// Lifts the limit of open files as far as the clients, and `others`, need it, or takes fewer
/// clients and says so. Fails the command where not even one fits.
void fit_descriptors(server::options& chosen, std::uint64_t others);

/// Makes jemalloc give free memory back soon, since it counts as the server's. Does nothing where
/// another allocator serves the process (a sanitizer's, a preloaded one), and fails the command
/// there if maxmemory is given. Requires: signals are blocked, as it starts a thread.
void set_up_allocator(const server::options& chosen);

/// Fails the command where not even the program fits into the target (0: none), which would refuse
/// every write.
void check_target(std::uint64_t target_bytes);

/// Blocks the signals that end the server, which the end of a terminal's session (SIGHUP) is not,
/// and returns them, for sigwait(); every thread that is started later inherits the mask.
sigset_t block_signals();

/// The process's number in the file `path`, for as long as this lives; empty: in none.
class pid_file {
 public:
  /// Fails the command where the file cannot be written.
  explicit pid_file(const std::string& path);
  ~pid_file();
  pid_file(const pid_file&) = delete;
  pid_file& operator=(const pid_file&) = delete;

 private:
  const std::string path_;
};

}  // namespace isotherm::cli
