// The four heaps of the spatially-aware memory allocator (SAMA, OBASE 3.4). Each heap is one
// reserved contiguous range of addresses, so that an address tells its temperature.
//
//   NEW    just made, use unknown                    packed: exact sizes, appended
//   HOT    used of late                              packed
//   COLD   unused for cold-threshold windows         packed, over a backing of the user's choice
//   NODE   index nodes, which hold guides            jemalloc arena with extent hooks, never moves
//
//   configure.hpp, usage.hpp, node.hpp    for programs (isotherm/runtime.hpp)
//   object.hpp                            for guides and the collector
//   upkeep.hpp                            for the collector
//
// Everything there is thread-safe unless it says otherwise.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace isotherm::heap {

enum class kind : std::uint8_t {
  newborn = 0,  ///< NEW: objects just made, of whose use nothing is known yet
  hot = 1,      ///< HOT: objects used of late
  cold = 2,     ///< COLD: objects unused for as many windows as the cold threshold says
  node = 3      ///< NODE: index nodes, which hold guides and never move
};
inline constexpr std::array kKinds{kind::newborn, kind::hot, kind::cold, kind::node};

/// Whether objects live there that a guide may hold: all but NODE. A guide's word has two bits for
/// the heap of its object, in which NODE's value says that there is no object (guide/word.hpp).
constexpr bool holds_objects(kind where) noexcept { return where != kind::node; }

constexpr std::string_view name_of(kind where) noexcept {
  constexpr std::array<std::string_view, kKinds.size()> kNames{"new", "hot", "cold", "node"};
  return kNames[static_cast<std::size_t>(where)];
}

/// A value for each heap.
template <class T>
class per_kind {
 public:
  constexpr T& operator[](kind where) noexcept { return values_[static_cast<std::size_t>(where)]; }
  constexpr const T& operator[](kind where) const noexcept {
    return values_[static_cast<std::size_t>(where)];
  }
  constexpr auto begin() noexcept { return values_.begin(); }
  constexpr auto end() noexcept { return values_.end(); }

 private:
  std::array<T, kKinds.size()> values_{};
};

}  // namespace isotherm::heap
