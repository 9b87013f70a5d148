// The readers of traces under libFuzzer: the first byte chooses a format, or none, so that it is
// guessed; the second a layout of --columns. Whatever the rest is, a request has a key, and a
// reading that ends in an error gave no request.
#include <cstdlib>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>

#include "lab/traces/source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  namespace traces = isotherm::traces;
  if (size < 2) return 0;
  static const auto kNames = traces::format_names();
  static constexpr std::string_view kColumns[] = {"",
                                                  "",
                                                  "key",
                                                  "time,key,value_size,repeats,ttl",
                                                  "device,offset,length",
                                                  "first,blocks,-,op"};
  traces::file_options how;
  if (const std::size_t chosen = data[0] % (kNames.size() + 1); chosen < kNames.size()) {
    how.format = kNames[chosen];
  }
  how.columns = kColumns[data[1] % std::size(kColumns)];
  auto file = std::make_unique<std::istringstream>(
      std::string(reinterpret_cast<const char*>(data) + 2, size - 2));
  const auto opened = traces::open_stream(std::move(file), "input", how);
  if (!opened) return opened.error().message.empty() ? (std::abort(), 0) : 0;
  traces::request next;
  for (int given = 0; given < 4096; ++given) {
    const auto more = (*opened)->next(next);
    if (!more && given > 0) std::abort();
    if (!more || !*more) break;
    if (next.key.empty()) std::abort();
  }
  static_cast<void>(traces::describe((*opened)->malformed()));
  return 0;
}
