// The hot objects of a region of equal objects: which they are, by layout, and in which order they
// are used.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace isotherm::lab {

/// Places of the hot objects (Dissertation 4.3.2, empirical validation).
enum class layout : std::uint8_t {
  scattered,  ///< anywhere in the region, all sets of objects equally likely
  clustered   ///< side by side from the region's begin
};
inline constexpr std::array kLayouts{layout::scattered, layout::clustered};
const char* name_of(layout which) noexcept;

/// A line of the processor's caches: what an access reads of an object.
inline constexpr std::uint64_t kLineBytes = 64;

/// A region of equal objects.
struct object_region {
  std::uint64_t objects = 0;
  std::uint64_t lines_per_object = 0;
};

/// Returns a line of each hot object, as its number in the region, in random order: the order of
/// use. The line is drawn among the object's lines, so that the lines spread over the sets of the
/// caches. Requires: 0 < hot_objects <= objects, and fewer than 2^32 lines. The same seed gives the
/// same lines.
std::vector<std::uint32_t> choose_hot_lines(const object_region& region, std::uint64_t hot_objects,
                                            layout which, std::uint64_t seed);

/// Returns the number of pages of `page_bytes` that hold these lines, in a region that begins on a
/// page.
std::uint64_t count_pages(std::span<const std::uint32_t> lines, std::uint64_t page_bytes);

}  // namespace isotherm::lab
