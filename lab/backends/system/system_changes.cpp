#include "lab/backends/system/system_changes.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>
#include <thread>

#include "lab/backends/system/damon.hpp"
#include "os/files/lock.hpp"
#include "os/memory/swap.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

namespace fs = std::filesystem;

base::result<void> remove_file(const std::string& path) {
  std::error_code problem;
  fs::remove(path, problem);
  if (!problem) return {};
  return std::unexpected(base::system_error("cannot remove " + path, problem.value()));
}

/// Space that is not in use has nothing to end: the change was noted and not made.
base::result<void> end_swap(const std::string& path) {
  auto ended = os::stop_swap(path);
  if (!ended && (ended.error().code == EINVAL || ended.error().code == ENOENT)) return {};
  return ended;
}

/// A device that is gone, perhaps with its module, needs no removal.
base::result<void> remove_zram(const std::string& number) {
  auto removed = write_text("/sys/class/zram-control/hot_remove", number);
  if (!removed && (removed.error().code == ENODEV || removed.error().code == ENOENT)) return {};
  return removed;
}

/// Ends the processes of the group, which are those of the run that made it.
base::result<void> remove_group(const std::string& path) {
  if (!fs::path(path).filename().string().starts_with(kGroupPrefix)) return {};
  constexpr auto kPause = std::chrono::milliseconds(10);
  constexpr int kAttempts = 1000;  // a killed process with swapped pages takes seconds to go
  int problem = EBUSY;
  for (int i = 0; i < kAttempts && problem == EBUSY; ++i) {
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
    problem = errno;
    std::istringstream processes(os::read_proc_file((path + "/cgroup.procs").c_str()));
    for (int pid = 0; processes >> pid;) {
      if (pid > 0) ::kill(pid, SIGKILL);  // 0: it is of another container
    }
    std::this_thread::sleep_for(kPause);
  }
  return std::unexpected(base::system_error("cannot remove the control group " + path, problem));
}

base::result<void> write_back(const std::string& argument) {
  const std::size_t blank = argument.find(' ');
  return write_text(argument.substr(0, blank), argument.substr(blank + 1));
}

constexpr const char* kEnabled = "/cgroup.subtree_control";

/// Other groups may have settings of a controller by now, which it would forget.
base::result<void> disable_controller(const std::string& argument) {
  const std::size_t blank = argument.rfind(' ');
  const std::string group = argument.substr(0, blank);
  std::error_code problem;
  for (const auto& each : fs::directory_iterator(group, problem)) {
    if (each.is_directory(problem)) return {};
  }
  return write_text(group + kEnabled, '-' + argument.substr(blank + 1));
}

struct change_kind {
  std::string_view word;
  base::result<void> (*undo)(const std::string& argument);
};
/// In the order of the enum.
constexpr std::array kKinds{change_kind{"file", remove_file},
                            change_kind{"swap", end_swap},
                            change_kind{"added_zram", remove_zram},
                            change_kind{"group", remove_group},
                            change_kind{"controller", disable_controller},
                            change_kind{"damon", end_damon},
                            change_kind{"text", write_back}};

/// A line that is not understood is not of this program.
base::result<void> undo(const std::string& line) {
  const std::size_t blank = line.find(' ');
  for (const change_kind& each : kKinds) {
    if (blank != std::string::npos && line.substr(0, blank) == each.word) {
      return each.undo(line.substr(blank + 1));
    }
  }
  return {};
}

base::result<std::vector<std::string>> read_list(const os::file& list) {
  const auto bytes = list.size();
  if (!bytes) return std::unexpected(bytes.error());
  std::string text(*bytes, 0);
  if (auto read = list.read(std::as_writable_bytes(std::span(text)), 0); !read) {
    return std::unexpected(read.error());
  }
  std::vector<std::string> lines;
  std::istringstream stream(text);
  // A line without an end was half written when the run was killed: its change was not made.
  for (std::string line; std::getline(stream, line) && !stream.eof();) lines.push_back(line);
  return lines;
}

/// The chosen word of "always [madvise] never", or the whole text.
std::string chosen_of(const std::string& text) {
  const std::size_t open = text.find('['), close = text.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open) return text;
  return text.substr(open + 1, close - open - 1);
}

}  // namespace

base::result<system_changes> system_changes::open(const std::string& path,
                                                  std::vector<std::string>& mended) {
  std::error_code ignored;  // the list then cannot be opened
  fs::create_directories(fs::path(path).parent_path(), ignored);
  auto list = os::open_locked(path);
  if (!list && list.error().code == EWOULDBLOCK) {
    return std::unexpected(base::error{
        "another isotherm bench backends runs: its changes of the system would meet this one's"});
  }
  if (!list) return std::unexpected(list.error());
  auto left = read_list(*list);
  if (!left) return std::unexpected(left.error());
  system_changes found(std::move(*list));
  found.noted_ = std::move(*left);
  mended.insert(mended.end(), found.noted_.begin(), found.noted_.end());
  if (auto undone = found.undo_to(0); !undone) {
    return std::unexpected(base::error{
        fmt::format("{}; what a killed run left changed is listed in {}: undo it, remove that file",
                    undone.error().message, path),
        undone.error().code});
  }
  return found;
}

system_changes::~system_changes() {
  if (!list_) return;
  if (auto undone = undo_to(0); !undone) {
    fmt::print(stderr, "isotherm: {}; the next run tries again\n", undone.error().message);
    return;
  }
  std::error_code ignored;
  fs::remove(list_.path(), ignored);
}

base::result<void> system_changes::note(change kind, const std::string& argument) {
  if (!list_) return std::unexpected(base::error{"changes of the system need root: sudo", EPERM});
  noted_.push_back(fmt::format("{} {}", kKinds[static_cast<std::size_t>(kind)].word, argument));
  return save();
}

base::result<void> system_changes::forget_last() {
  noted_.pop_back();
  return save();
}

base::result<void> system_changes::write(const std::string& path, const std::string& text) {
  return note_and_write(change::text, path + ' ' + chosen_of(read_text(path)), path, text);
}

base::result<void> system_changes::enable(const std::string& group, const std::string& controller) {
  return note_and_write(change::controller, group + ' ' + controller, group + kEnabled,
                        '+' + controller);
}

base::result<void> system_changes::note_and_write(change kind, const std::string& argument,
                                                  const std::string& path,
                                                  const std::string& text) {
  if (auto noted = note(kind, argument); !noted) return noted;
  auto written = write_text(path, text);
  if (written) return written;
  auto forgotten = forget_last();
  return forgotten ? written : forgotten;
}

base::result<void> system_changes::undo_to(std::size_t count) {
  if (noted_.size() == count) return {};
  std::vector<std::string> stuck;
  base::result<void> how;
  while (noted_.size() > count) {
    if (auto undone = undo(noted_.back()); !undone) {
      if (how) how = undone;
      stuck.push_back(noted_.back());
    }
    noted_.pop_back();
  }
  noted_.insert(noted_.end(), stuck.rbegin(), stuck.rend());
  auto saved = save();
  return how ? saved : how;
}

base::result<void> system_changes::save() const {
  std::string text;
  for (const std::string& line : noted_) text += line + '\n';
  // In this order a kill in between leaves lines of changes that were undone, which does no harm.
  if (auto written = list_.write(std::as_bytes(std::span(text)), 0); !written) return written;
  return list_.resize(text.size());
}

base::result<void> write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path);
  file << text << std::flush;
  if (file) return {};
  return std::unexpected(
      base::system_error(fmt::format("cannot write '{}' to {}", text, path), errno));
}

std::string read_text(const std::string& path) {
  std::string text = os::read_proc_file(path.c_str());
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace isotherm::lab
