// A program that allocates objects of known sizes in every way, and then uses some of them in a
// window. It says so on standard output and waits for a line of standard input between its steps.
//
//   objects MODE          loads | threads | none
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kRecords = 1000, kBytes = 200;
volatile char* records[kRecords];

/// Says that a step is done without allocating, and waits.
void step(const char* done) {
  char line[16];
  if (write(STDOUT_FILENO, done, std::strlen(done)) < 0) std::_Exit(3);
  if (read(STDIN_FILENO, line, sizeof line) < 0) std::_Exit(3);
}

}  // namespace

// Functions of these names are looked for in call stacks.
extern "C" {

[[gnu::noinline]] void make_record(std::size_t i) {
  records[i] = static_cast<char*>(std::malloc(kBytes));
  records[i][0] = 1;
}

[[gnu::noinline]] void make_records() {
  for (std::size_t i = 0; i < kRecords; ++i) make_record(i);
}

[[gnu::noinline]] void* make_table() { return std::calloc(1 << 14, 8); }

[[gnu::noinline]] void* make_grown() {
  void* grown = std::malloc(50);
  void* const large = std::realloc(grown, 5000);
  void* const impossible = std::realloc(large, ~std::size_t{0} / 4);  // keeps `large`
  return impossible == nullptr ? large : nullptr;
}

[[gnu::noinline]] void* make_aligned() { return std::aligned_alloc(256, 768); }

[[gnu::noinline]] void* make_aligned_for_posix() {
  void* made = nullptr;
  return posix_memalign(&made, 128, 640) == 0 ? made : nullptr;
}

[[gnu::noinline]] char* make_by_new() { return new char[300]; }

[[gnu::noinline]] void* make_aligned_by_new() {
  return ::operator new(96, std::align_val_t(64), std::nothrow);
}

[[gnu::noinline]] void make_and_free() {
  std::free(std::malloc(400));
  delete[] make_by_new();
  ::operator delete(::operator new(2000));
}

/// Its callee leaves by an exception: frames that it skipped are no callers of the next object.
[[gnu::noinline]] void throw_out() { throw std::runtime_error("out"); }

[[gnu::noinline]] void* make_after_exception() {
  try {
    throw_out();
  } catch (const std::runtime_error&) {
  }
  return std::malloc(900);
}
}

namespace {

void load_and_use() {
  make_records();
  void* const kept[] = {
      make_table(),  make_grown(),          make_aligned(),        make_aligned_for_posix(),
      make_by_new(), make_aligned_by_new(), make_after_exception()};
  make_and_free();
  step("ready\n");
  for (std::size_t i = 0; i < kRecords; i += 10) records[i][20] = 2;
  static_cast<volatile char*>(kept[0])[5000] = 1;
  step("again\n");
}

/// Threads that come one after another, and others side by side, with a kept object each.
void allocate_by_threads() {
  std::vector<std::thread> all;
  all.reserve(8);
  for (std::size_t t = 0; t < 8; ++t) {
    all.emplace_back([t] {
      for (std::size_t i = 0; i < 20'000; ++i) std::free(std::malloc(64));
      make_record(t);
    });
  }
  for (auto& thread : all) thread.join();
  step("ready\n");
}

}  // namespace

int main(int count, char** words) {
  const std::string_view mode = count > 1 ? words[1] : "none";
  if (mode == "loads") load_and_use();
  if (mode == "threads") allocate_by_threads();
}
