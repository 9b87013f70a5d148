#include "sort/plan/facts.hpp"

#include <algorithm>
#include <thread>

#include "os/memory/available_memory.hpp"

namespace isotherm::sort {

facts facts_of(const input_facts& input, const device::model* device) {
  return {.input = input,
          .device = device,
          .processors = std::max(1u, std::thread::hardware_concurrency()),
          .available_bytes = os::available_memory(),
          .address_space_bytes = os::address_space_room()};
}

}  // namespace isotherm::sort
