// A program whose used bytes are known exactly (pages_case.py computes them anew). It has no
// library, so that nothing else is anonymous memory: a mapping that it uses in part, and one that
// only the kernel uses.
#include <cstdint>

namespace {

constexpr std::uint64_t kUsed = 0x10000000000, kUsedBytes = 1 << 20;
constexpr std::uint64_t kHeld = 0x10100000000, kHeldBytes = 16 * 4096;
constexpr long kRead = 0, kWrite = 1, kOpen = 2, kMmap = 9, kWritev = 20, kExit = 231;
constexpr long kReadWrite = 3, kFixedAnonymous = 0x32;

long call(long number, long a, long b, long c, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long returned;
  asm volatile("syscall"
               : "=a"(returned)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return returned;
}

template <class Word>
void store(std::uint64_t offset) {
  auto* const at = reinterpret_cast<volatile char*>(kUsed + offset);
  if constexpr (sizeof(Word) == 1) {
    asm volatile("movb $1, %0" : "=m"(*at));
  } else if constexpr (sizeof(Word) == 2) {
    asm volatile("movw $1, %0" : "=m"(*at));
  } else if constexpr (sizeof(Word) == 4) {
    asm volatile("movl $1, %0" : "=m"(*at));
  } else {
    asm volatile("movq $1, %0" : "=m"(*at));
  }
}

/// Page p (0 .. 63) gets bytes at multiples of 67, p + 1 of them.
void store_bytes() {
  for (std::uint64_t page = 0; page < 64; ++page) {
    for (std::uint64_t i = 0; i <= page; ++i) store<std::uint8_t>(page * 4096 + i * 67 % 4096);
  }
}

/// Stores to pages 64 to 71: words that cross lines and pages, vectors, and string instructions.
void store_words() {
  constexpr std::uint64_t kFirst = 64 * 4096;
  store<std::uint16_t>(kFirst + 63);
  store<std::uint32_t>(kFirst + 4094);
  store<std::uint64_t>(kFirst + 8191);
  auto* const vector = reinterpret_cast<char*>(kUsed + kFirst + 3 * 4096 + 57);
  asm volatile("pxor %%xmm0, %%xmm0\n movdqu %%xmm0, %0" : "=m"(*vector) : : "xmm0", "memory");
  auto* target = reinterpret_cast<char*>(kUsed + kFirst + 5 * 4096 + 100);
  std::uint64_t count = 300;
  asm volatile("rep stosb" : "+D"(target), "+c"(count) : "a"(7) : "memory");
  auto* source = reinterpret_cast<char*>(kUsed + kFirst + 5 * 4096 + 200);
  target = reinterpret_cast<char*>(kUsed + kFirst + 6 * 4096 + 8);
  count = 5;
  asm volatile("rep movsq" : "+D"(target), "+S"(source), "+c"(count) : : "memory");
}

/// The kernel alone writes to all pages of the second mapping.
void read_buffer() {
  call(kMmap, kHeld, kHeldBytes, kReadWrite, kFixedAnonymous, -1);
  const long zeros = call(kOpen, reinterpret_cast<long>("/dev/zero"), 0, 0);
  call(kRead, zeros, kHeld, kHeldBytes);
}

/// The kernel alone reads 100 bytes of page 80, and 30 and 20 of page 81.
void write_buffers() {
  struct {
    std::uint64_t address, bytes;
  } volatile vectors[2];
  vectors[0].address = kUsed + 81 * 4096;
  vectors[0].bytes = 30;
  vectors[1].address = kUsed + 81 * 4096 + 1000;
  vectors[1].bytes = 20;
  call(kWrite, 1, kUsed + 80 * 4096, 100);
  call(kWritev, 1, reinterpret_cast<long>(vectors), 2);
}

}  // namespace

extern "C" [[noreturn]] void run() {
  call(kMmap, kUsed, kUsedBytes, kReadWrite, kFixedAnonymous, -1);
  store_bytes();
  store_words();
  read_buffer();
  write_buffers();
  call(kExit, 0, 0, 0);
  __builtin_unreachable();
}

asm(".globl _start\n_start: call run\n");
