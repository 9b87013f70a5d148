// Addresses that come from text and from numbers. text.expected has the messages and their places.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <isotherm/compiler.hpp>
#include <istream>

struct record {
  int key = 0;
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

int by_format(const char* text) {
  void* found = nullptr;
  std::sscanf(text, "at %p", &found);
  return static_cast<record*>(found)->key;
}
int by_stream(std::istream& text) {
  void* found = nullptr;
  text >> found;
  return static_cast<record*>(found)->key;
}
int by_number(std::uintptr_t number) { return reinterpret_cast<record*>(number)->key; }
int by_bits(std::uintptr_t number) { return std::bit_cast<record*>(number)->key; }

void printed(node* n) { std::printf("%p\n", static_cast<void*>(n->value)); }
int numbers(const char* text, std::istream& more) {
  int number = 0;
  std::sscanf(text, "%d", &number);
  more >> std::ws >> number;
  return number;
}
bool is_deleted(const record* found) {
  return found == reinterpret_cast<const record*>(std::uintptr_t{1});
}
int* another(std::uintptr_t number) { return reinterpret_cast<int*>(number); }
