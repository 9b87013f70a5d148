// A program that uses bytes of a mapped file, and then does one of the things that make a program
// hard to observe.
//
//   behaviour MODE FILE [PROGRAM]
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
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

[[noreturn]] void replace(const char* path, char* mode, char* file) {
  use(0, 7);
  char name[] = "a name";
  char* const words[] = {name, mode, file, nullptr};
  execv(path, words);
  use(7, 9);  // there is no such program
  _exit(4);
}

/// The bytes that the kernel receives overwrite the address of the message's list of buffers.
void receive_over_message() {
  int ends[2];
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  msghdr message = {};
  iovec buffer = {&message.msg_iov, sizeof message.msg_iov};
  message.msg_iov = &buffer;
  message.msg_iovlen = 1;
  if (write(ends[0], "AAAAAAAA", sizeof message.msg_iov) < 0) _exit(5);
  if (recvmsg(ends[1], &message, 0) != sizeof message.msg_iov) _exit(6);
}

/// System calls with addresses that are no memory; then uses 12 bytes.
void pass_bad_pointers() {
  auto* const nowhere = reinterpret_cast<void*>(16);
  for (const long number : {SYS_read, SYS_write, SYS_readv, SYS_writev, SYS_sendmsg, SYS_recvmsg,
                            SYS_sendmmsg, SYS_recvmmsg, SYS_getrandom}) {
    if (syscall(number, 0, nowhere, 4, 0, nowhere) > 0) _exit(7);
  }
  syscall(SYS_execve, nowhere, nowhere, nowhere);
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, nowhere, 4096, nowhere);
  receive_over_message();
  use(0, 12);
}

/// Names parts of anonymous memory, of 8 pages, and uses 3 bytes of the first page, 5 of the third.
void name_memory() {
  void* const mapped =
      mmap(nullptr, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memory = static_cast<volatile char*>(mapped);
  auto* const begin = static_cast<char*>(mapped);
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, begin, 2 * 4096, "isotherm-hot");
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, begin + 2 * 4096, 4096, "not this one");
  prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, begin + 2 * 4096, 4096, "my cache");
  use(0, 3);
  use(2 * 4096, 2 * 4096 + 5);
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
  char next[] = "close";
  if (mode == "exec") replace(words[3], next, words[2]);
  if (mode == "no-exec") replace("/nonexistent", next, words[2]);
  if (mode == "serve") serve();
  if (mode == "bad-pointers") pass_bad_pointers();
  if (mode == "names") name_memory();
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
