// An allocator for LD_PRELOAD of which jemalloc's figures know nothing. It frees nothing.
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {
constexpr std::size_t kRoom = std::size_t{1} << 36, kHeader = 16;
std::atomic<std::uintptr_t> next{0};

/// Returns a new block, with its size in front of it.
void* take(std::size_t bytes, std::size_t alignment) {
  std::uintptr_t at = next.load();
  if (at == 0) {
    void* const room = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return nullptr;
    next.compare_exchange_strong(at, reinterpret_cast<std::uintptr_t>(room));
    at = next.load();
  }
  std::uintptr_t begin = 0;
  do {
    begin = (at + kHeader + alignment - 1) & ~(alignment - 1);
  } while (!next.compare_exchange_weak(at, begin + bytes));
  reinterpret_cast<std::size_t*>(begin)[-1] = bytes;
  return reinterpret_cast<void*>(begin);
}
}  // namespace

extern "C" {
void* malloc(std::size_t bytes) { return take(bytes, kHeader); }
void free(void*) {}
void* calloc(std::size_t count, std::size_t each) { return take(count * each, kHeader); }
void* realloc(void* old, std::size_t bytes) {
  void* const made = take(bytes, kHeader);
  if (old == nullptr || made == nullptr) return made;
  const std::size_t kept = reinterpret_cast<std::size_t*>(old)[-1];
  return std::memcpy(made, old, kept < bytes ? kept : bytes);
}
int posix_memalign(void** made, std::size_t alignment, std::size_t bytes) {
  *made = take(bytes, alignment);
  return *made == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) { return take(bytes, alignment); }
}
