#include "os/machine.hpp"

#include <sys/utsname.h>

#include <string_view>
#include <thread>

#include "os/proc_file.hpp"

namespace isotherm::os {
namespace {

/// The rest of the line that begins with `label`, behind its colon; "" when there is none.
std::string_view field_of(std::string_view text, std::string_view label) {
  const std::size_t at = text.find(label);
  if (at == std::string_view::npos) return {};
  const std::string_view line = text.substr(at, text.find('\n', at) - at);
  const std::size_t colon = line.find(": ");
  return colon == std::string_view::npos ? std::string_view{} : line.substr(colon + 2);
}

}  // namespace

machine this_machine() {
  utsname names{};
  uname(&names);
  const std::string processors = read_proc_file("/proc/cpuinfo");
  const std::string_view model = field_of(processors, "model name");
  const auto memory_kib = number_after(read_proc_file("/proc/meminfo"), "MemTotal:");
  return {.processor = std::string(model.empty() ? names.machine : model),
          .processors = std::thread::hardware_concurrency(),
          .memory_bytes = memory_kib.value_or(0) * 1024,
          .system = std::string(names.sysname) + " " + names.release};
}

std::vector<std::string> command_words() {
  const std::string text = read_proc_file("/proc/self/cmdline");  // each word ends with a zero
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size(); at += words.back().size() + 1) {
    words.emplace_back(text.c_str() + at);
  }
  return words;
}

}  // namespace isotherm::os
