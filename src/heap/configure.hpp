// What a program chooses for its heaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"

namespace isotherm::heap {

/// Where COLD pages live when they leave DRAM.
struct cold_backing {
  enum class type : std::uint8_t { anon, file };
  type where = type::anon;
  /// For `file`: an existing directory on a disk file system. A child of fork() shares the file
  /// with its parent, which goes on changing it: the child must not dereference guides of COLD
  /// objects.
  std::string directory;

  /// Parses "anon" or "file:DIR".
  static base::result<cold_backing> parse(const std::string& text);
};

struct options {
  /// Address space reserved for each range, rounded to 2 MiB; halved (to 64 MiB at least) until the
  /// system grants it, and at most an eighth of RLIMIT_AS.
  std::size_t range_bytes = std::size_t{256} << 30;
  cold_backing cold;
  /// With COLD in a file: an object whose page the disk does not give back is lost alone
  /// (readable.hpp); else its reader ends with SIGBUS. Installs a handler for SIGBUS, which passes
  /// on what is not COLD's.
  bool catch_read_errors = false;
  bool huge_pages = false;  ///< MADV_HUGEPAGE on HOT and NODE, whose pages are in use as a whole
};

/// Reserves the ranges. Call at most once, before the first allocation; without it the first
/// allocation configures with the defaults. Fails on an unusable cold directory (missing, not
/// writable, tmpfs).
base::result<void> configure(const options& chosen);

/// How COLD's pages are asked to leave DRAM (OBASE 3.4): not at all, by MADV_COLD, or by
/// MADV_PAGEOUT. For the collector's options.
enum class hint : std::uint8_t { none, cold, pageout };

}  // namespace isotherm::heap
