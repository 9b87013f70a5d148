// The parser of requests under libFuzzer: it never reads beyond what it was shown (AddressSanitizer
// watches), never consumes what is not there, and a cut in the stream makes no difference.
#include <cstdlib>
#include <string>
#include <vector>

#include "server/resp_parser.hpp"

namespace {

using isotherm::server::resp_parser;

/// All arguments and the final problem, in one text; the stream comes in two pieces.
std::string transcript(std::string_view stream, std::size_t cut) {
  resp_parser parser;
  std::string seen;
  std::size_t begin = 0;
  for (const std::size_t end : {cut, stream.size()}) {
    for (;;) {
      const std::string window(stream.substr(begin, end - begin));
      const auto status = parser.parse(window, {});
      if (status == resp_parser::status::incomplete) break;
      if (status == resp_parser::status::error) return seen + std::string(parser.problem());
      if (parser.consumed() == 0 || parser.consumed() > window.size()) std::abort();
      for (const auto argument : parser.arguments()) seen.append(argument).push_back('\0');
      seen.push_back('\n');
      begin += parser.consumed();
    }
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view stream(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = size == 0 ? 0 : data[size - 1] % (size + 1);
  if (transcript(stream, cut) != transcript(stream, size)) std::abort();
  return 0;
}
