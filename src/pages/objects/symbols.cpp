#include "pages/objects/symbols.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>

#include "base/numbers.hpp"
#include "os/files/file.hpp"

namespace isotherm::pages {
namespace {

constexpr const char* kAddr2line = "addr2line";
constexpr std::size_t kAddressesAtOnce = 512;

/// A place in the code of a file.
struct code_place {
  std::string file;
  std::uint64_t offset = 0;  ///< as the file's own tables have it
  friend auto operator<=>(const code_place&, const code_place&) = default;
};

/// Whether the file's addresses are those that it has in memory (a program that is not
/// position-independent).
bool has_fixed_addresses(const std::string& path) {
  const auto file = os::file::open(path);
  Elf64_Ehdr head{};
  return file && file->read(std::as_writable_bytes(std::span(&head, 1)), 0) &&
         head.e_type == ET_EXEC;
}

/// Finds the places of addresses in mapped files.
class code_map {
 public:
  explicit code_map(const std::vector<mapping>& code) : code_(code) {
    for (const mapping& m : code) {
      if (bases_.contains(m.name)) continue;
      bases_[m.name] = has_fixed_addresses(m.name) ? 0 : m.begin;
    }
  }
  std::optional<code_place> find(std::uint64_t address) const {
    for (const mapping& m : code_) {
      if (m.begin <= address && address < m.end) return {{m.name, address - bases_.at(m.name)}};
    }
    return std::nullopt;
  }

 private:
  const std::vector<mapping>& code_;
  std::map<std::string, std::uint64_t> bases_;
};

/// Returns the output of a program; nullopt where it cannot be run.
std::optional<std::string> output_of(std::vector<std::string> words) {
  auto ends = os::file::pipe("names of functions");
  if (!ends) return std::nullopt;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends->writing.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::fcntl(ends->writing.descriptor(), F_SETFL, 0);  // a full pipe makes the program wait
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, pointers.front(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  ends->writing = {};
  if (problem != 0) return std::nullopt;
  std::string all;
  std::vector<std::byte> piece(1 << 16);
  for (auto got = ends->reading.read_next(piece); got && *got > 0;
       got = ends->reading.read_next(piece)) {
    all.append(reinterpret_cast<const char*>(piece.data()), *got);
  }
  ::waitpid(child, nullptr, 0);
  return all;
}

std::string file_and_offset(const code_place& place) {
  return fmt::format("{}+{:#x}", std::filesystem::path(place.file).filename().string(),
                     place.offset);
}

/// Lines of source files, each of which is read once.
class source_files {
 public:
  /// Returns the line without its indentation; empty where there is no such line.
  std::string line(const std::string& path, std::size_t number) {
    const auto [file, is_new] = files_.try_emplace(path);
    if (is_new) {
      std::ifstream input(path);
      for (std::string line; std::getline(input, line);) file->second.push_back(line);
    }
    if (number < 1 || number > file->second.size()) return {};
    const std::string& whole = file->second[number - 1];
    return whole.substr(std::min(whole.find_first_not_of(" \t"), whole.size()));
  }

 private:
  std::map<std::string, std::vector<std::string>> files_;
};

/// Sets where the frame is in a source: "/usr/src/sds.c:120 (discriminator 2)" of addr2line is
/// "sds.c:120". Sets nothing if no line is known: "??:0", "sds.c:?".
void set_source(call_frame& frame, std::string_view place, source_files& sources) {
  place = place.substr(0, place.find(' '));
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return;
  const auto number = base::parse_number<std::size_t>(place.substr(colon + 1), 1);
  if (!number) return;
  const std::string path(place.substr(0, colon));
  frame.source = place.substr(place.find_last_of('/') + 1);
  frame.line = sources.line(path, *number);
}

using frame_names = std::map<code_place, std::vector<call_frame>>;

/// Reads "0xADDRESS", and then a line for each function and one for its source, innermost first.
void read_names(std::string_view text, const std::string& file, source_files& sources,
                frame_names& names) {
  code_place place{.file = file};
  std::optional<std::string> function;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (!function && line.starts_with("0x")) {
      std::from_chars(line.data() + 2, line.data() + line.size(), place.offset, 16);
    } else if (!function) {
      function = line == "??" ? file_and_offset(place) : std::string(line);
    } else {
      call_frame frame{.function = std::move(*function), .source = {}, .line = {}};
      set_source(frame, line, sources);
      names[place].push_back(std::move(frame));
      function.reset();
    }
  }
}

/// Asks for the names of all places in one file. Returns whether addr2line could be run.
bool ask(const std::string& file, const std::vector<std::uint64_t>& offsets, source_files& sources,
         frame_names& names) {
  for (std::size_t begin = 0; begin < offsets.size(); begin += kAddressesAtOnce) {
    std::vector<std::string> words{kAddr2line, "-a", "-f", "-C", "-i", "-e", file};
    const std::size_t end = std::min(begin + kAddressesAtOnce, offsets.size());
    for (std::size_t i = begin; i < end; ++i) words.push_back(fmt::format("{:#x}", offsets[i]));
    const auto text = output_of(std::move(words));
    if (!text) return false;
    read_names(*text, file, sources, names);
  }
  return true;
}

/// A return address lies behind its call, which may be its function's last instruction.
std::uint64_t call_before(std::uint64_t return_address) { return return_address - 1; }

std::map<std::string, std::vector<std::uint64_t>> offsets_by_file(
    const std::vector<object_figures*>& all) {
  std::map<std::string, std::set<std::uint64_t>> offsets;
  for (const object_figures* const figures : all) {
    const code_map code(figures->code);
    for (const site_figures& site : figures->by_site) {
      for (const std::uint64_t frame : site.frames) {
        if (const auto place = code.find(call_before(frame))) {
          offsets[place->file].insert(place->offset);
        }
      }
    }
  }
  std::map<std::string, std::vector<std::uint64_t>> lists;
  for (const auto& [file, found] : offsets) lists[file] = {found.begin(), found.end()};
  return lists;
}

void name_frames(object_figures& figures, const frame_names& names) {
  const code_map code(figures.code);
  for (site_figures& site : figures.by_site) {
    for (const std::uint64_t frame : site.frames) {
      const auto place = code.find(call_before(frame));
      const auto found = place ? names.find(*place) : names.end();
      if (found != names.end()) {
        site.functions.insert(site.functions.end(), found->second.begin(), found->second.end());
      } else {
        site.functions.push_back(
            {.function = place ? file_and_offset(*place) : fmt::format("{:#x}", frame),
             .source = {},
             .line = {}});
      }
    }
  }
}

}  // namespace

naming name_functions(const std::vector<object_figures*>& all) {
  frame_names names;
  source_files sources;
  naming result = naming::done;
  for (const auto& [file, offsets] : offsets_by_file(all)) {
    if (!ask(file, offsets, sources, names)) result = naming::no_addr2line;
  }
  for (object_figures* const figures : all) name_frames(*figures, names);
  return result;
}

}  // namespace isotherm::pages
