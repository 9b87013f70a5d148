// A program that uses bytes of a mapped file, and then does one of the things that make a program
// hard to observe.
//
//   behaviour MODE FILE
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kFileBytes = 16 * 4096;
volatile char* memory = nullptr;

void use(std::size_t begin, std::size_t end, std::size_t step = 1) {
  for (std::size_t i = begin; i < end; i += step) memory[i] = 1;
}

/// Four threads use every fourth byte each, of 8 pages.
void use_by_threads() {
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < 4; ++t) all.emplace_back([t] { use(t, 8 * 4096, 4); });
  for (auto& thread : all) thread.join();
}

void fork_and_wait() {
  use(0, 10);
  if (fork() == 0) {
    use(4096, 8192);
    _exit(0);
  }
  wait(nullptr);
  use(10, 20);
}

[[noreturn]] void replace(const char* path) {
  use(0, 7);
  char* const words[] = {const_cast<char*>("true"), nullptr};
  execv(path, words);
  use(7, 9);  // there is no such program
  _exit(4);
}

/// Runs until a signal ends it: first 100 bytes, then 50 others when it gets SIGUSR1.
[[noreturn]] void serve() {
  sigset_t waited;
  sigemptyset(&waited);
  sigaddset(&waited, SIGUSR1);
  sigprocmask(SIG_BLOCK, &waited, nullptr);
  use(0, 100);
  if (write(STDOUT_FILENO, "ready\n", 6) != 6) _exit(5);
  int got = 0;
  sigwait(&waited, &got);
  use(4096, 4096 + 50);
  if (write(STDOUT_FILENO, "again\n", 6) != 6) _exit(5);
  while (true) pause();
}

}  // namespace

int main(int, char** words) {
  const std::string_view mode = words[1];
  const int file = open(words[2], O_RDWR);
  void* const mapped = mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return 3;
  memory = static_cast<volatile char*>(mapped);
  if (mode == "threads") use_by_threads();
  if (mode == "fork") fork_and_wait();
  if (mode == "exec") replace("/bin/true");
  if (mode == "no-exec") replace("/nonexistent");
  if (mode == "serve") serve();
  if (mode == "close") {
    close_range(3, ~0U, 0);
    use(0, 9);
  }
  if (mode == "fault") {
    use(0, 5);
    *reinterpret_cast<volatile int*>(16) = 1;
  }
  if (mode == "exit") return 42;
  return 0;
}
