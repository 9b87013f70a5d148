// The smallest program with a live page: objects that it makes, a collector, and the page of both.
#include <cstdio>
#include <isotherm/guide.hpp>
#include <isotherm/live.hpp>
#include <isotherm/runtime.hpp>
#include <string>
#include <vector>

int main(int count, char** words) {
  std::vector<isotherm::guide<isotherm::bytes>> held;
  for (int i = 0; i < 10'000; ++i) held.emplace_back(isotherm::make_bytes(std::string(1000, 'x')));

  isotherm::collector::object_collector collector({.window_seconds = 1});
  if (!collector.start()) return 1;
  const auto page = isotherm::live::open(count > 1 ? words[1] : ":0", collector);
  if (!page) return std::fprintf(stderr, "live_page: %s\n", page.error().message.c_str()), 1;
  std::printf("%s\n", (*page)->url().c_str());
  if (count > 1) std::getchar();  // open until a key is pressed
}
