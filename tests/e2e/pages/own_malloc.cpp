// A program that brings its own malloc, which no preloaded library can stand before.
#include <cstddef>
#include <cstdlib>

namespace {

alignas(16) char pool[1 << 20];
std::size_t given = 0;

}  // namespace

extern "C" void* malloc(std::size_t bytes) {
  void* const object = pool + given;
  given += (bytes + 15) / 16 * 16;
  return object;
}

extern "C" void free(void*) {}

int main() {
  volatile char* const object = static_cast<char*>(std::malloc(100));
  object[0] = 1;
  std::free(const_cast<char*>(object));
}
