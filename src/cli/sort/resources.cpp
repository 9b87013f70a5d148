#include "cli/sort/resources.hpp"

#include <unistd.h>
#include <isotherm/sort.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/numbers.hpp"
#include "cli/fail.hpp"
#include "os/files/paths.hpp"

namespace isotherm::cli {
namespace {

constexpr unsigned kMostThreads = 1024;
constexpr std::uint64_t kLeastBufferSize = 32 << 20;  // GNU sort raises what is too little, too

/// A size as GNU sort reads it: a number of KiB, or with a suffix of %, b, K, M, G or T.
std::optional<std::uint64_t> parse_buffer_size(std::string_view text) {
  const std::size_t digits = text.find_first_not_of("0123456789");
  const auto number = base::parse_number<std::uint64_t>(text.substr(0, digits));
  const std::string_view suffix = digits == text.npos ? "K" : text.substr(digits);
  if (!number || suffix.size() != 1) return std::nullopt;
  if (suffix == "%") {
    const auto pages = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES));
    if (*number > 100) return std::nullopt;
    return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) / 100 * *number;
  }
  const std::string_view units = "bKMGT";
  const std::size_t unit = units.find(suffix == "k" ? 'K' : suffix[0]);
  std::uint64_t bytes = 0;
  if (unit == units.npos ||
      __builtin_mul_overflow(*number, std::uint64_t{1} << (10 * unit), &bytes)) {
    return std::nullopt;
  }
  return bytes;
}

/// Divides DIR=DEVICE. A word that is the name of a directory is one, whatever stands in it.
sort_directory parse_directory(const std::string& word) {
  const std::size_t emulated = word.find("=emu:");
  const std::size_t sign = emulated != word.npos ? emulated : word.rfind('=');
  if (sign == word.npos || os::identity(word)) return {word, ""};
  if (sign == 0 || sign + 1 == word.size()) {
    refuse_words("--tmp is '" + word + "', but takes DIR or DIR=DEVICE");
  }
  return {word.substr(0, sign), word.substr(sign + 1)};
}

}  // namespace

void add_resources(command c, resources& r, sort_options& o) {
  const option memory =
      c.add("--memory", r.memory,
            "limit of resident memory, such as 512mb; half of what is available if not given");
  c.add("-S,--buffer-size", r.buffer_size,
        "the same as GNU sort has it: 50% of the system's memory, 2G, 512M, or a number of KiB")
      .excludes(memory);
  c.add_each("-T,--tmp,--temporary-directory", r.directories,
             "directory for runs, DIR or DIR=DEVICE, whose device is named as by --device; of "
             "several each run goes to the fastest that has room; the output's if not given");
  c.add("--parallel", r.parallel, "threads for all work; as many as there are processors", 1u,
        kMostThreads)
      .hide_default();
  c.add("--read-threads", o.read_threads, "threads that read; the device decides").hide_default();
  c.add("--write-threads", o.write_threads, "threads that write; the device decides")
      .hide_default();
  c.add("--sort-threads", o.sort_threads, "threads that sort").hide_default();
}

void understand(const resources& r, sort_options& o) {
  if (r.memory) {
    const auto bytes = base::parse_bytes(*r.memory);
    if (!bytes) refuse_words("--memory is '" + *r.memory + "', but takes bytes, 64mb or 4gb");
    if (*bytes == 0) refuse_words("--memory 0 is too little: 32mb will do");
    o.memory_bytes = *bytes;
  }
  if (r.buffer_size) {
    const auto bytes = parse_buffer_size(*r.buffer_size);
    if (!bytes) refuse_words("-S is '" + *r.buffer_size + "', but takes 50%, 512M, 2G or KiB");
    o.memory_bytes = std::max(*bytes, kLeastBufferSize);
  }
  for (unsigned* threads : {&o.read_threads, &o.write_threads, &o.sort_threads}) {
    if (*threads == 0) *threads = r.parallel;
  }
  for (const std::string& each : r.directories) {
    o.temporary_directories.push_back(parse_directory(each));
  }
}

}  // namespace isotherm::cli
