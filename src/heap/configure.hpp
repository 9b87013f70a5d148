// The choices of a program for its heaps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace isotherm::heap {

class backing;
struct backing_kind;

/// Describes a backing of COLD, for messages and for decisions of programs.
struct backing_description {
  std::string leaves_for;   ///< the place of pages that have left DRAM
  std::string room;         ///< the place to make room in when COLD is full
  std::string directory;    ///< on the disk that has the pages; empty: none has
  bool needs_swap = false;  ///< pages leave DRAM only where the system has swap
  bool is_direct = false;   ///< pages are not in DRAM from the start: no hint applies
};

/// The place of COLD pages that leave DRAM: a kind of backing (packed/backing.hpp) and its
/// argument.
///   anon      memory of the process, for which swap is needed (a mapped COLD)
///   file:DIR  a log that the process writes and reads itself, past the page cache (a logged COLD):
///             an unlinked file in DIR, an existing directory on a disk file system. A child of
///             fork() shares the file with its parent, which goes on changing it: the child must
///             not dereference guides of COLD objects.
///   node:N    memory of the memory node N, as CXL memory (a direct COLD: a mapped one whose pages
///             are not in DRAM, so that objects leave as they are moved, and are used in place)
///   dax:PATH  memory behind a DAX device, whose content is lost, or of an unlinked file in a
///             directory on a file system with DAX or tmpfs (direct). A child of fork() shares it,
///             as it does the file of file:DIR.
class cold_backing {
 public:
  /// Parses "anon", "file:DIR", "node:N" or "dax:PATH".
  static base::result<cold_backing> parse(const std::string& text);
  /// Returns the texts that parse() takes, as "anon|file:DIR|...", with `between` in place of '|'.
  static std::string forms(std::string_view between);
  /// Returns the texts that parse() takes, each with what it stands for, for help texts.
  static std::string help();

  /// Returns the text that parse() takes.
  std::string text() const;
  backing_description describe() const;
  /// Makes the backing. Errors: fails where it cannot be had, with one line that says why.
  base::result<std::unique_ptr<backing>> make() const;

 private:
  explicit cold_backing(const backing_kind& kind, std::string argument = {}) noexcept
      : kind_(&kind), argument_(std::move(argument)) {}

  const backing_kind* kind_;
  std::string argument_;
};

/// Directories for COLD's file, the best first: $STATE_DIRECTORY, which systemd keeps for a service
/// (of several separated by ':' the first), and /var/tmp.
std::vector<std::string> cold_directories();
/// A place for COLD, and why those that would have been better cannot be it, one line each.
struct cold_place {
  cold_backing backing;
  std::vector<std::string> refused;
};
/// Finds the first of `directories` in which COLD's file can be made; anonymous memory where there
/// is none.
cold_place find_cold_place(const std::vector<std::string>& directories);

/// Bounds of reads of COLD that no thread waits for (cold/reader.hpp, cold/arrived_reads.hpp).
struct cold_read_limits {
  /// A disk that has answered nothing for so long is silent: the reads that it has been asked for
  /// fail.
  std::chrono::milliseconds answers_within{10'000};
  /// Time for a read while the disk is known to be silent. It may be the first that it answers
  /// again; others may have been lost in it.
  std::chrono::milliseconds answers_one_within{1'000};
  /// Time for reads that are under way when their reader is destroyed.
  std::chrono::milliseconds leaves_within{5'000};
  /// Bytes of pages that one run of an operation may ask for, beside those of its last object.
  std::uint64_t noted_bytes = std::uint64_t{32} << 20;
};

struct options {
  /// Address space reserved for each range, rounded to 2 MiB; halved (to 64 MiB at least) until the
  /// system grants it, and at most an eighth of RLIMIT_AS.
  std::size_t range_bytes = std::size_t{256} << 30;
  std::optional<cold_backing> cold;  ///< nullopt: as find_cold_place() finds it
  cold_read_limits cold_reads;
  /// Memory node that NEW, HOT and NODE prefer; nullopt: the system chooses.
  std::optional<unsigned> hot_node;
  bool huge_pages = false;  ///< MADV_HUGEPAGE on HOT and NODE, whose pages are in use as a whole
};

/// Whether pages of COLD can leave DRAM: in a file they can, anonymous ones where there is swap.
/// Configures with the defaults if nothing has. Any thread.
bool cold_can_leave_dram();

/// Whether COLD is a log: what has left DRAM is read from a file, and nothing may store to what is
/// in COLD. Configures with the defaults if nothing has. Any thread.
bool cold_is_logged() noexcept;

/// Whether COLD lies in memory that is not DRAM: objects have left DRAM when they are in COLD.
/// Configures with the defaults if nothing has. Any thread.
bool cold_is_direct() noexcept;

/// Whether COLD is direct and memory control groups count it like DRAM, as they do a memory node
/// and tmpfs, so that no object leaves a group's limit by being moved to COLD. Configures with the
/// defaults if nothing has. Any thread.
bool cold_is_direct_and_charged() noexcept;

/// Reserves the ranges. Call at most once, before the first allocation; without it the first
/// allocation configures with the defaults. Fails on an unusable place for COLD (a
/// directory that is missing, not writable, on tmpfs or without direct I/O; a memory node that is
/// missing or without memory; a path without DAX) and on an unusable `hot_node`.
base::result<void> configure(const options& chosen);

/// Returns the limits that configure() was given. Any thread.
const cold_read_limits& read_limits() noexcept;

/// How COLD's pages are asked to leave DRAM (OBASE 3.4): not at all, by MADV_COLD, or by
/// MADV_PAGEOUT. For the collector's options.
enum class hint : std::uint8_t { none, cold, pageout };

}  // namespace isotherm::heap
