// 400,000 objects, of which the program uses one in a hundred: the others leave DRAM.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <isotherm/guide.hpp>
#include <isotherm/runtime.hpp>
#include <isotherm/scope.hpp>
#include <string>
#include <vector>

int main() {
  isotherm::collector::object_collector collector({.window_seconds = 1});
  if (auto started = collector.start(); !started) return std::puts(started.error().message.c_str());
  std::vector<isotherm::guide<isotherm::bytes>> all;
  for (int i = 0; i < 400'000; ++i) all.emplace_back(isotherm::make_bytes(std::string(1000, 'x')));
  for (int second = 1; second <= 12; ++second, sleep(1)) {
    const isotherm::scope inside;  // the objects that are used stay where they are until it closes
    for (int i = 0; i < 400'000; i += 100) (void)all[i].get(inside)->view();
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages >> pages;  // the second number: pages in DRAM
    std::printf("%2d s: %3ld MiB of DRAM\n", second, pages * sysconf(_SC_PAGESIZE) >> 20);
  }
}
