#include "sync/refusing_new.hpp"

#include <cstdlib>
#include <new>

namespace isotherm::testing_help {
thread_local bool refuses_memory = false;
thread_local int calls_before_refusal = 0;
}  // namespace isotherm::testing_help

namespace {
using isotherm::testing_help::calls_before_refusal;
using isotherm::testing_help::refuses_memory;

void* give(std::size_t bytes) noexcept {
  if (refuses_memory && calls_before_refusal-- <= 0) return nullptr;
  return std::malloc(bytes);
}
void* give_or_throw(std::size_t bytes) {
  void* const memory = give(bytes);
  if (!memory) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t bytes) { return give_or_throw(bytes); }
void* operator new[](std::size_t bytes) { return give_or_throw(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return give(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return give(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
