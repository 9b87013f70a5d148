#include "lab/bench/all_indexes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "index/index.hpp"
#include "lab/bench/report.hpp"
#include "os/machine.hpp"

namespace isotherm::lab {
namespace {

/// Runs this program again for one index, with the requests of `seed`, and returns its JSON object.
base::result<nlohmann::json> run_child(std::string_view index, std::uint64_t seed,
                                       const std::filesystem::path& output) {
  auto words = os::command_words();  // of a flag that is given twice the last counts
  words.insert(words.end(), {"--index", std::string(index), "--seed", std::to_string(seed),
                             "--json", output.string()});
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int problem =
      posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) return std::unexpected(base::system_error("cannot start a run", problem));
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    return std::unexpected(base::error{fmt::format("the run of {} failed", index)});
  }
  std::ifstream file(output);
  auto found = nlohmann::json::parse(file, nullptr, false);
  if (found.is_object()) return found;
  return std::unexpected(base::error{fmt::format("the run of {} reported nothing", index)});
}

std::string or_dash(const nlohmann::json& value, double scale, const char* unit) {
  return value.is_number() ? fmt::format("{:.1f}{}", value.get<double>() * scale, unit) : "-";
}

/// The indexes that can run a workload: a scan needs an order.
std::vector<std::string_view> indexes_for(const workload::ycsb_workload& workload) {
  std::vector<std::string_view> fit;
  for (const std::string_view name : index::names()) {
    if (workload.shares.scan == 0 || (*index::make(name, index::management::off))->is_ordered())
      fit.push_back(name);
  }
  return fit;
}

void print_head(const bench_plan& plan) {
  fmt::print("seed {}\n", plan.load.seed);
  announce(plan);
  fmt::print("{:<18}{:>12}{:>10}{:>10}{:>10}{:>10}{:>10}{:>13}{:>9}{:>14}\n", "index", "ops/s",
             "p50 us", "p90 us", "p99 us", "RSS MiB", "DRAM MiB", "utilization", "of best",
             "node B/entry");
}

void print_row(std::string_view index, const nlohmann::json& found) {
  const auto& latency = found["latency_us"];
  const auto& cost = found["index_bytes_per_entry"];
  const auto& point = found["operating_point"];
  constexpr double kMebi = 1.0 / (1 << 20);
  fmt::print("{:<18}{:>12.0f}{:>10.2f}{:>10.2f}{:>10.2f}{:>10.0f}{:>10.0f}{:>13}{:>9}{:>14}\n",
             index, found["throughput_ops_s"].get<double>(), latency["p50"].get<double>(),
             latency["p90"].get<double>(), latency["p99"].get<double>(),
             found["rss_bytes"].get<double>() * kMebi, found["dram_bytes"].get<double>() * kMebi,
             or_dash(found["page_utilization"], 100, "%"),
             point.is_object() ? or_dash(point["share_of_best"], 100, "%") : "-",
             cost.is_object() ? or_dash(cost["nodes"], 1, "") : "-");
  std::fflush(stdout);
}

/// A folder in /tmp for as long as this lives.
class scratch_folder {
 public:
  static base::result<scratch_folder> make() {
    char name[] = "/tmp/isotherm-bench-XXXXXX";
    if (mkdtemp(name)) return scratch_folder(name);
    return std::unexpected(base::system_error("cannot make a folder in /tmp", errno));
  }
  scratch_folder(scratch_folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  scratch_folder& operator=(scratch_folder&&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  explicit scratch_folder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace

base::result<void> run_all(const bench_plan& plan) {
  const auto scratch = scratch_folder::make();
  if (!scratch) return std::unexpected(scratch.error());
  const std::string& json = plan.asked.json;
  auto all = nlohmann::json::array();
  if (json != "-") print_head(plan);
  for (const std::string_view index : indexes_for(plan.load.workload)) {
    auto found = run_child(index, plan.load.seed, scratch->path() / index);
    if (!found) return std::unexpected(found.error());
    if (json != "-") print_row(index, *found);
    all.push_back(std::move(*found));
  }
  if (json.empty()) return {};
  return append_line(json, all.dump());
}

}  // namespace isotherm::lab
