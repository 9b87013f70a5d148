#include "sort/plan/facts.hpp"

#include "os/limits/processors.hpp"
#include "os/memory/available_memory.hpp"

namespace isotherm::sort {

facts facts_of(const input_facts& input, const device::model* device) {
  return {.input = input,
          .device = device,
          .directories = {},
          .processor = {},
          .processors = os::available_processors(),
          .available_bytes = os::available_memory(),
          .address_space_bytes = os::address_space_room()};
}

}  // namespace isotherm::sort
