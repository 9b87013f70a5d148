// How long a process is held up while its page marks are cleared and counted, as isotherm pages
// --pid does for each window:
//
//   clear_refs_pause MIB ROUNDS
//
// A thread uses MIB of memory in random order; after each 64 reads it maps a page, touches it and
// unmaps it, which needs the lock that clear_refs takes. Another thread clears the marks of the
// process and reads smaps, by turns with rounds in which it does nothing. Prints the longest gap
// between two steps of the first thread in each round: median, least and most.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic.hpp"
#include "base/numbers.hpp"
#include "base/page.hpp"
#include "base/random.hpp"
#include "os/files/file.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/huge_pages.hpp"
#include "os/proc_file.hpp"
#include "os/thread.hpp"

namespace isotherm {
namespace {

using clock = std::chrono::steady_clock;

/// Written by the thread that is held up, read and set back by the other one.
struct longest_gap {
  base::atomic<std::uint64_t> longest_ns{0};
  base::atomic<std::uint64_t> steps{0};
};

[[noreturn]] void use_for_ever(std::uint64_t bytes, longest_gap& gap) {
  auto* const memory = static_cast<volatile char*>(os::map_memory(bytes));
  static_cast<void>(os::keep_pages_small(const_cast<char*>(memory), bytes));
  for (std::uint64_t at = 0; at < bytes; at += base::kPageBytes) memory[at] = 1;
  base::random random(1);
  auto last = clock::now();
  for (;;) {
    for (int read = 0; read < 64; ++read) static_cast<void>(memory[random.below(bytes)]);
    auto* const page = static_cast<volatile char*>(os::map_memory(base::kPageBytes));
    *page = 1;
    os::release(const_cast<char*>(page), base::kPageBytes);
    const auto now = clock::now();
    const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(now - last).count());
    last = now;
    if (ns > gap.longest_ns.load_relaxed()) gap.longest_ns.store_relaxed(ns);
    gap.steps.fetch_add_relaxed(1);
  }
}

/// Milliseconds that `work` takes.
template <class Work>
double milliseconds_of(Work&& work) {
  const auto begin = clock::now();
  work();
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

void wait_for_steps(const longest_gap& gap, std::uint64_t steps) {
  const std::uint64_t from = gap.steps.load_relaxed();
  while (gap.steps.load_relaxed() < from + steps) usleep(1000);
}

void print(const char* label, std::vector<double> rounds) {
  std::ranges::sort(rounds);
  fmt::print("{:<44} {:8.2f} ms ({:.2f}..{:.2f})\n", label, rounds[rounds.size() / 2],
             rounds.front(), rounds.back());
}

void measure(longest_gap& gap, unsigned rounds) {
  std::vector<double> idle, clearing, counting, clear_call, count_call;
  const auto longest = [&](auto work) {
    gap.longest_ns.store_relaxed(0);
    work();
    wait_for_steps(gap, 2);
    return static_cast<double>(gap.longest_ns.load_relaxed()) / 1e6;
  };
  for (unsigned round = 0; round < rounds; ++round) {
    wait_for_steps(gap, 10'000);
    const auto clear = [&] {
      clear_call.push_back(milliseconds_of([&] {
        const auto control = os::file::writable_in_place("/proc/self/clear_refs");
        if (control) static_cast<void>(control->write(std::as_bytes(std::span("1", 1)), 0));
      }));
    };
    clearing.push_back(longest(clear));
    wait_for_steps(gap, 10'000);
    const auto count = [&] {
      count_call.push_back(
          milliseconds_of([&] { static_cast<void>(os::read_proc_file("/proc/self/smaps")); }));
    };
    counting.push_back(longest(count));
    const auto as_long = static_cast<useconds_t>(clear_call.back() * 1000);
    wait_for_steps(gap, 10'000);
    idle.push_back(longest([&] { usleep(as_long); }));
  }
  print("clearing the marks", clear_call);
  print("counting them (smaps)", count_call);
  print("longest gap of the thread, marks cleared", clearing);
  print("longest gap of the thread, marks counted", counting);
  print("longest gap of the thread, left alone", idle);
}

[[noreturn]] void run(std::uint64_t mib, unsigned rounds) {
  static longest_gap gap;
  auto user = os::start_thread("user", [mib] { use_for_ever(mib << 20, gap); });
  if (!user) {
    fmt::print(stderr, "{}\n", user.error().message);
    std::_Exit(1);
  }
  wait_for_steps(gap, 1);
  fmt::print("{} MiB in pages of 4 KiB; median (least..most) of {} rounds\n", mib, rounds);
  measure(gap, rounds);
  std::fflush(stdout);
  std::_Exit(0);  // the other thread never ends
}

}  // namespace
}  // namespace isotherm

int main(int argc, char** argv) {
  const auto words = std::span(argv, static_cast<std::size_t>(argc));
  const auto number = [&](std::size_t at, std::uint64_t most) {
    return words.size() == 3 ? isotherm::base::parse_number<std::uint64_t>(words[at], 1, most)
                             : std::nullopt;
  };
  const auto mib = number(1, 1 << 20), rounds = number(2, 10'000);
  if (!mib || !rounds) {
    fmt::print(stderr, "usage: clear_refs_pause MIB ROUNDS\n");
    return 2;
  }
  isotherm::run(*mib, static_cast<unsigned>(*rounds));
}
