// The library that an observed program loads before its others (LD_PRELOAD): it passes each
// allocation on to the allocator behind it, glibc's or another, and tells the plugin inside QEMU of
// it. A shared object of its own, which links no library of Isotherm or of C++. It only passes
// calls on where no plugin answers, as in programs that the observed one starts.
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/atomic.hpp"
#include "pages/objects/allocation.hpp"

namespace isotherm::pages {
namespace {

/// libc's syscall() would change errno.
void send(allocation_message message, std::uint64_t a2, std::uint64_t a3 = 0, std::uint64_t a4 = 0,
          std::uint64_t a5 = 0) noexcept {
  register std::uint64_t fourth asm("r10") = a4;
  register std::uint64_t fifth asm("r8") = a5;
  std::int64_t number = kAllocationCall;
  asm volatile("syscall"
               : "+a"(number)
               : "D"(message), "S"(a2), "d"(a3), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
}

enum attachment : std::uint32_t { kUnknown, kTraced, kAlone };
constinit base::atomic<std::uint32_t> attached(kUnknown);

bool is_traced() noexcept {
  if (attached.load_relaxed() == kUnknown) {
    volatile std::uint32_t answer = 0;
    send(allocation_message::attach, reinterpret_cast<std::uint64_t>(&answer));
    attached.store_relaxed(answer != 0 ? kTraced : kAlone);
  }
  return attached.load_relaxed() == kTraced;
}

/// Finds the function of that name behind this library. Operators of C++ may lie in a library that
/// the program has loaded for one of its parts alone (dlopen).
void* find(const char* name) noexcept {
  if (void* const found = ::dlsym(RTLD_NEXT, name)) return found;
  for (const char* const library : {"libstdc++.so.6", "libc++.so.1"}) {
    void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    void* const found = loaded != nullptr ? ::dlsym(loaded, name) : nullptr;
    if (found != nullptr) return found;
  }
  return nullptr;
}

/// A function behind this library, looked for when it is first called.
template <class Function>
class next {
 public:
  explicit constexpr next(const char* name) noexcept : name_(name) {}
  template <class... Arguments>
  auto operator()(Arguments... arguments) {
    return get()(arguments...);
  }
  Function* get() noexcept {
    if (found_.load_relaxed() == nullptr) {
      auto* const found = reinterpret_cast<Function*>(find(name_));
      if (found == nullptr) fail();
      found_.store_relaxed(found);
    }
    return found_.load_relaxed();
  }

 private:
  [[noreturn]] void fail() const noexcept {
    for (const char* const part :
         {"isotherm: the observed program has no function ", name_, "\n"}) {
      if (::write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
    }
    std::abort();
  }
  const char* name_;
  base::atomic<Function*> found_{nullptr};
};

constinit next<void*(std::size_t)> next_malloc("malloc");
constinit next<void(void*)> next_free("free");
constinit next<std::size_t(void*)> next_usable_size("malloc_usable_size");

/// Whether the function that tells usable sizes is of the allocator that is used.
bool tells_usable_size() noexcept {
  static constinit base::atomic<int> known(-1);
  if (known.load_relaxed() < 0) {
    Dl_info allocator, size;
    const bool found = ::dladdr(reinterpret_cast<void*>(next_malloc.get()), &allocator) != 0 &&
                       ::dladdr(reinterpret_cast<void*>(next_usable_size.get()), &size) != 0;
    known.store_relaxed(found && allocator.dli_fbase == size.dli_fbase ? 1 : 0);
  }
  return known.load_relaxed() == 1;
}

/// Returns the address of the stack slot that holds the return address of the calling function.
[[gnu::always_inline]] inline std::uint64_t return_place() noexcept {
  return reinterpret_cast<std::uint64_t>(__builtin_frame_address(0)) + sizeof(void*);
}

void* made(void* object, std::size_t asked, std::uint64_t place) noexcept {
  if (object == nullptr || !is_traced()) return object;
  const std::size_t usable = tells_usable_size() ? next_usable_size(object) : asked;
  send(allocation_message::made, reinterpret_cast<std::uint64_t>(object), asked, usable, place);
  return object;
}

/// Requires: the object is freed only later, or its address could be another's by then.
void gone(void* object) noexcept {
  if (object != nullptr && is_traced()) {
    send(allocation_message::gone, reinterpret_cast<std::uint64_t>(object));
  }
}

void* reallocated(void* old, void* object, std::size_t asked, std::uint64_t place) noexcept {
  if (object != nullptr || asked == 0) return made(object, asked, place);
  if (old != nullptr) made(old, tells_usable_size() ? next_usable_size(old) : 0, place);
  return nullptr;  // it failed, and the old object lives on
}

}  // namespace
}  // namespace isotherm::pages

#define ISOTHERM_TRACED extern "C" __attribute__((visibility("default")))
#define ISOTHERM_TRACED_OPERATOR __attribute__((visibility("default")))

using namespace isotherm::pages;

ISOTHERM_TRACED void* malloc(std::size_t bytes) noexcept {
  return made(next_malloc(bytes), bytes, return_place());
}

ISOTHERM_TRACED void* calloc(std::size_t count, std::size_t bytes) noexcept {
  static constinit next<void*(std::size_t, std::size_t)> next_calloc("calloc");
  return made(next_calloc(count, bytes), count * bytes, return_place());
}

ISOTHERM_TRACED void* realloc(void* old, std::size_t bytes) noexcept {
  static constinit next<void*(void*, std::size_t)> next_realloc("realloc");
  gone(old);
  return reallocated(old, next_realloc(old, bytes), bytes, return_place());
}

ISOTHERM_TRACED void* reallocarray(void* old, std::size_t count, std::size_t bytes) noexcept {
  static constinit next<void*(void*, std::size_t, std::size_t)> next_reallocarray("reallocarray");
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) all = SIZE_MAX;  // it is refused; `old` stays
  gone(old);
  return reallocated(old, next_reallocarray(old, count, bytes), all, return_place());
}

ISOTHERM_TRACED void free(void* object) noexcept {
  gone(object);
  next_free(object);
}

ISOTHERM_TRACED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  static constinit next<void*(std::size_t, std::size_t)> next_aligned("aligned_alloc");
  return made(next_aligned(alignment, bytes), bytes, return_place());
}

ISOTHERM_TRACED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  static constinit next<void*(std::size_t, std::size_t)> next_memalign("memalign");
  return made(next_memalign(alignment, bytes), bytes, return_place());
}

ISOTHERM_TRACED int posix_memalign(void** object, std::size_t alignment,
                                   std::size_t bytes) noexcept {
  static constinit next<int(void**, std::size_t, std::size_t)> next_aligned("posix_memalign");
  const int problem = next_aligned(object, alignment, bytes);
  if (problem == 0) made(*object, bytes, return_place());
  return problem;
}

// An allocator may bring operators of its own, which do not call malloc (jemalloc's do not).
// glibc's and libstdc++'s call it: an object is told twice then, and the outer call counts.

ISOTHERM_TRACED_OPERATOR void* operator new(std::size_t bytes) {
  static constinit next<void*(std::size_t)> next_new("_Znwm");
  return made(next_new(bytes), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new[](std::size_t bytes) {
  static constinit next<void*(std::size_t)> next_new("_Znam");
  return made(next_new(bytes), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new(std::size_t bytes,
                                            const std::nothrow_t& quiet) noexcept {
  static constinit next<void*(std::size_t, const std::nothrow_t*)> next_new("_ZnwmRKSt9nothrow_t");
  return made(next_new(bytes, &quiet), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new[](std::size_t bytes,
                                              const std::nothrow_t& quiet) noexcept {
  static constinit next<void*(std::size_t, const std::nothrow_t*)> next_new("_ZnamRKSt9nothrow_t");
  return made(next_new(bytes, &quiet), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment) {
  static constinit next<void*(std::size_t, std::align_val_t)> next_new("_ZnwmSt11align_val_t");
  return made(next_new(bytes, alignment), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  static constinit next<void*(std::size_t, std::align_val_t)> next_new("_ZnamSt11align_val_t");
  return made(next_new(bytes, alignment), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new(std::size_t bytes, std::align_val_t alignment,
                                            const std::nothrow_t& quiet) noexcept {
  static constinit next<void*(std::size_t, std::align_val_t, const std::nothrow_t*)> next_new(
      "_ZnwmSt11align_val_tRKSt9nothrow_t");
  return made(next_new(bytes, alignment, &quiet), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                              const std::nothrow_t& quiet) noexcept {
  static constinit next<void*(std::size_t, std::align_val_t, const std::nothrow_t*)> next_new(
      "_ZnamSt11align_val_tRKSt9nothrow_t");
  return made(next_new(bytes, alignment, &quiet), bytes, return_place());
}

ISOTHERM_TRACED_OPERATOR void operator delete(void* object) noexcept {
  static constinit next<void(void*)> next_delete("_ZdlPv");
  gone(object);
  next_delete(object);
}

ISOTHERM_TRACED_OPERATOR void operator delete[](void* object) noexcept {
  static constinit next<void(void*)> next_delete("_ZdaPv");
  gone(object);
  next_delete(object);
}

ISOTHERM_TRACED_OPERATOR void operator delete(void* object, std::size_t bytes) noexcept {
  static constinit next<void(void*, std::size_t)> next_delete("_ZdlPvm");
  gone(object);
  next_delete(object, bytes);
}

ISOTHERM_TRACED_OPERATOR void operator delete[](void* object, std::size_t bytes) noexcept {
  static constinit next<void(void*, std::size_t)> next_delete("_ZdaPvm");
  gone(object);
  next_delete(object, bytes);
}

ISOTHERM_TRACED_OPERATOR void operator delete(void* object, std::align_val_t alignment) noexcept {
  static constinit next<void(void*, std::align_val_t)> next_delete("_ZdlPvSt11align_val_t");
  gone(object);
  next_delete(object, alignment);
}

ISOTHERM_TRACED_OPERATOR void operator delete[](void* object, std::align_val_t alignment) noexcept {
  static constinit next<void(void*, std::align_val_t)> next_delete("_ZdaPvSt11align_val_t");
  gone(object);
  next_delete(object, alignment);
}

ISOTHERM_TRACED_OPERATOR void operator delete(void* object, std::size_t bytes,
                                              std::align_val_t alignment) noexcept {
  static constinit next<void(void*, std::size_t, std::align_val_t)> next_delete(
      "_ZdlPvmSt11align_val_t");
  gone(object);
  next_delete(object, bytes, alignment);
}

ISOTHERM_TRACED_OPERATOR void operator delete[](void* object, std::size_t bytes,
                                                std::align_val_t alignment) noexcept {
  static constinit next<void(void*, std::size_t, std::align_val_t)> next_delete(
      "_ZdaPvmSt11align_val_t");
  gone(object);
  next_delete(object, bytes, alignment);
}
