// The kernel's account of COLD's mappings in this process (/proc/self/smaps).
#pragma once

#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "heap/usage.hpp"

namespace isotherm::testing_help {

/// Calls `see` with each fact that the kernel tells of COLD's mappings: "VmFlags:", and what
/// follows it.
inline void for_each_fact_of_cold(
    const std::function<void(const std::string& name, std::istream& value)>& see) {
  const heap::range cold = heap::range_of(heap::kind::cold);
  std::ifstream maps("/proc/self/smaps");
  bool is_of_cold = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (!first.ends_with(':')) {
      const std::uintptr_t begin = std::stoull(first, nullptr, 16);
      is_of_cold = cold.contains(reinterpret_cast<const void*>(begin));
    } else if (is_of_cold) {
      see(first, words);
    }
  }
}

}  // namespace isotherm::testing_help
