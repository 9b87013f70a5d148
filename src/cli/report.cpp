// isotherm report: calls the Python package that draws it.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "cli/commands.hpp"
#include "cli/fail.hpp"

namespace isotherm::cli {
namespace {

constexpr const char* kPython = "python3";
constexpr const char* kInstall =
    "the report needs Python 3.11 or newer with the package isotherm-report: in Isotherm's "
    "sources, "
    "python3 -m pip install python/isotherm_report";

struct report_arguments {
  std::string folder;
  std::string output = "report.html";
};

/// -P: a folder of results is no place to load modules from.
std::vector<std::string> python(std::initializer_list<std::string> more) {
  std::vector<std::string> words{kPython, "-P"};
  words.insert(words.end(), more);
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> all;
  all.reserve(words.size() + 1);
  for (std::string& word : words) all.push_back(word.data());
  all.push_back(nullptr);
  return all;
}

/// Whether Python finds the package and what it needs; says nothing itself.
bool is_installed() {
  auto words = python({"-c",
                       "import sys; from importlib.util import find_spec\n"
                       "sys.exit(not all(map(find_spec, ('isotherm_report', 'matplotlib'))))"});
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int problem =
      posix_spawnp(&child, kPython, &quiet, nullptr, pointers(words).data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  return problem == 0 && waitpid(child, &status, 0) == child && status == 0;
}

void run(const report_arguments& a) {
  if (!is_installed()) fail(kInstall);
  auto words = python({"-m", "isotherm_report", "--output=" + a.output, "--", a.folder});
  execvp(kPython, pointers(words).data());
  fail(base::system_error("cannot run python3", errno).message);
}

}  // namespace

void add_report(command root) {
  auto a = std::make_shared<report_arguments>();
  const command c = root.subcommand(
      "report", "One HTML page of result files, each plot beside what the papers report");
  c.add("folder", a->folder, "results (*.json, *.jsonl), also in folders below").required();
  c.add("-o,--output", a->output, "the page; -: standard output");
  c.footer(
      "Results are what --json of bench ycsb, bench tiers and sort, --output of device probe, and\n"
      "the scripts of lab/experiments write. docs/seeing/report.md tells how to install it.");
  c.action([a] { run(*a); });
}

}  // namespace isotherm::cli
