// The objects of a window: how many of their bytes the program used, and what it would hold if
// objects lay in the order of their use (Dissertation 4.3.1, 4.5.3).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "pages/memory_image.hpp"
#include "pages/objects/object_table.hpp"
#include "pages/shadow.hpp"

namespace isotherm::pages {

/// Sums over objects, in bytes. A touched object is one with a used byte. The marks of a window
/// belong to addresses: an object made in memory of one that was freed has its marks, too.
struct object_sizes {
  std::uint64_t objects = 0;
  std::uint64_t asked = 0;   ///< sizes as the program asked for them
  std::uint64_t usable = 0;  ///< sizes as the allocator rounded them up
  std::uint64_t touched_objects = 0;
  std::uint64_t touched = 0;  ///< `asked` of touched objects; of one over pages at most those used
  std::uint64_t used = 0;
  std::uint64_t lines = 0;  ///< lines of 64 bytes with a used byte of an object, in bytes
  double age_seconds = 0;   ///< sum of the objects' ages
  std::uint64_t untouched() const noexcept { return asked - touched; }
  double mean_age() const noexcept;
  void add(const object_sizes& other) noexcept;
};

/// A function that is active in a call stack.
struct call_frame {
  std::string function;  ///< or file and offset, where no name is known
  std::string source;    ///< "file.c:120", or empty
  std::string line;      ///< that line, where the file can be read: it names the type allocated
};

struct site_figures {
  object_sizes sizes;
  std::vector<std::uint64_t> frames;  ///< return addresses, innermost first
  std::vector<call_frame> functions;  ///< named by name_functions()
};

struct size_class_figures {
  std::uint64_t largest = 0;  ///< bytes asked for: a power of two, and more than half of it
  object_sizes sizes;
};

struct object_figures {
  object_sizes all;
  /// Used memory outside of live objects: touched pages without objects as a whole, and used bytes
  /// between objects (headers, memory that was freed meanwhile).
  std::uint64_t other = 0;
  std::vector<size_class_figures> by_size;  ///< ascending
  std::vector<site_figures> by_site;        ///< most untouched bytes first
  std::uint64_t sites = 0;                  ///< of all live objects; by_site may list fewer
  std::vector<mapping> code;                ///< mapped files, in which frames lie

  /// Bytes that the program would hold, were touched objects packed in pages of their own.
  std::uint64_t predicted() const noexcept;
};

/// Counts the marks of `area` in the live objects. `now_ns`: CLOCK_MONOTONIC. Errors: the shadow
/// cannot be read.
base::result<object_figures> measure_objects(const shadow& marks, unsigned area,
                                             const object_table& table,
                                             const std::vector<mapping>& mappings,
                                             std::uint64_t now_ns);

}  // namespace isotherm::pages
