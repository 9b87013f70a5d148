// A program that holds objects of 16 B to 1 MiB in guides, while its load changes as in
// `soak/run.py phases`. Prints a JSON line a second, which lab/experiments/soak/run.py draws.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "base/numbers.hpp"
#include "collector/collector.hpp"
#include "heap/configure.hpp"
#include "heap/usage.hpp"
#include "lab/micro/library/objects.hpp"
#include "lab/workload/driver.hpp"

namespace isotherm::library {
namespace {

using clock = std::chrono::steady_clock;

struct settings {
  std::uint64_t objects = 1'000'000;
  std::string workload = "b";
  double rate = 20'000;
  unsigned threads = 2;
  double phase_seconds = 60;
  std::string manage = "on";
  std::string directory = "/var/tmp";
  std::uint64_t seed = std::random_device()();
  collector::options collector{.window_seconds = 5, .hint = heap::hint::pageout};
};

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// Prints what a second brought.
class recorder {
 public:
  explicit recorder(const settings& s)
      : label_(s.manage + ", library program, YCSB-" + s.workload), threads_(s.threads) {
    print({{"objects", s.objects}, {"seed", s.seed}, {"rate", s.rate}});
  }

  void begin(std::string phase) {
    phase_ = std::move(phase);
    counts_ = std::make_unique<workload::meters>(threads_);
    seen_ = counts_->read();
    look();
  }
  workload::meters& counts() noexcept { return *counts_; }

  /// To be called often.
  void watch() {
    if (seconds_since(looked_) >= 1) look();
  }

 private:
  void look() {
    const double seconds = seconds_since(looked_);
    looked_ = clock::now();
    const double at = seconds_since(began_);
    workload::tally now = counts_->read(), last = now;
    last.subtract(std::exchange(seen_, std::move(now)));
    nlohmann::json line{
        {"at", at}, {"misses", static_cast<double>(last.misses) / seconds}, {"stats", memory()}};
    if (last.operations() > 0) {
      nlohmann::json second{{"at", at},
                            {"throughput", static_cast<double>(last.operations()) / seconds}};
      for (const auto& [name, share] :
           {std::pair("p50", .5), {"p90", .9}, {"p99", .99}, {"p999", .999}}) {
        second[name] = static_cast<double>(last.latency_ns.quantile(share)) / 1000;
      }
      line["value"] = "mixed";
      line["requests"] = nlohmann::json::array({std::move(second)});
    }
    print(std::move(line));
  }

  static nlohmann::json memory() {
    nlohmann::json found;
    std::uint64_t cold = 0;
    for (const heap::kind where : heap::kKinds) {
      const heap::usage now = heap::usage_of(where);
      if (where == heap::kind::cold) cold = now.resident_bytes;
      found[std::string(name_of(where)) + "_bytes"] = now.bytes;
    }
    found["dram_bytes"] = heap::read_footprint(cold).dram;
    return found;
  }

  void print(nlohmann::json line) const {
    line["run"] = label_;
    line["phase"] = phase_;
    std::cout << line.dump() << '\n' << std::flush;
  }

  const std::string label_;
  const unsigned threads_;
  const clock::time_point began_ = clock::now();
  clock::time_point looked_ = began_;
  std::string phase_ = "start";
  std::unique_ptr<workload::meters> counts_;
  workload::tally seen_;
};

class program {
 public:
  explicit program(const settings& s)
      : settings_(s), objects_(s.objects), used_(s.objects), recorder_(s) {}

  base::result<void> run() {
    const auto choice = workload::parse_workload(settings_.workload);
    if (!choice) return std::unexpected(choice.error());
    plan_.workload = *choice;
    plan_.keys_by.which = workload::distribution::permuted;
    plan_.threads = settings_.threads;
    plan_.rate = settings_.rate;
    plan_.seconds = settings_.phase_seconds;
    // Other objects are popular where their number is another.
    const std::uint64_t all = settings_.objects;
    for (const auto& [phase, keys] : {std::pair("load", std::uint64_t{0}),
                                      {"first demotion", all},
                                      {"steady", all},
                                      {"shift", all - 1},
                                      {"burst", 0},
                                      {"after it", all}}) {
      recorder_.begin(phase);
      const auto done = keys > 0 ? request(keys) : write_all();
      if (!done) return done;
    }
    remove_nine_tenths();
    return {};
  }

 private:
  workload::watcher watcher() {
    return [this](const auto&) {
      recorder_.watch();
      return true;
    };
  }

  base::result<void> write_all() {
    plan_.keys = settings_.objects;
    return workload::load(objects_, plan_, watcher());
  }

  base::result<void> request(std::uint64_t keys) {
    plan_.keys = keys;
    plan_.seed = ++settings_.seed;
    const auto seen = workload::run(objects_, plan_, recorder_.counts(), used_, watcher());
    if (!seen) return std::unexpected(seen.error());
    if (seen->sums.missing + seen->sums.corrupt == 0) return {};
    return std::unexpected(base::error{"objects were lost, or mistaken for others: this is a bug"});
  }

  void remove_nine_tenths() {
    recorder_.begin("deletion");
    for (std::uint64_t number = 0; number < objects_.count(); ++number) {
      if (number % 10 != 0) objects_.remove(number);
      if (number % 1024 == 0) recorder_.watch();
    }
    const auto end = clock::now() + std::chrono::duration<double>(settings_.phase_seconds);
    while (clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      recorder_.watch();
    }
  }

  settings settings_;
  objects objects_;
  workload::touched_keys used_;
  workload::plan plan_;
  recorder recorder_;
};

base::result<void> run(const settings& s) {
  heap::options heaps;
  heaps.cold = *heap::cold_backing::parse("file:" + s.directory);
  if (auto done = heap::configure(heaps); !done) return done;
  program all(s);
  collector::object_collector collector(s.collector);
  if (s.manage == "off") return all.run();
  if (auto started = collector.start(); !started) return started;
  return all.run();
}

}  // namespace
}  // namespace isotherm::library

int main(int argc, char** argv) {
  isotherm::library::settings s;
  CLI::App app("Movable objects of 16 B to 1 MiB under a load that changes, a JSON line a second");
  app.add_option("--objects", s.objects, "how many; 0.2 KiB each in the mean")
      ->check(CLI::Range(100u, 100'000'000u))
      ->capture_default_str();
  app.add_option("--workload", s.workload, "a, b, c or f: an update makes a new object")
      ->check(CLI::IsMember({"a", "b", "c", "f"}))
      ->capture_default_str();
  app.add_option("--rate", s.rate, "operations a second; 0: closed loop")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--threads", s.threads)->check(CLI::Range(1u, 1000u))->capture_default_str();
  app.add_option("--phase-seconds", s.phase_seconds, "of each phase of requests")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--manage", s.manage, "on|off")
      ->check(CLI::IsMember({"on", "off"}))
      ->capture_default_str();
  app.add_option_function<std::string>(
      "--memory-target",
      [&s](const std::string& text) {
        const auto bytes = isotherm::base::parse_bytes(text);
        if (!bytes) throw CLI::ValidationError("--memory-target takes bytes, or 100mb");
        s.collector.memory_target_bytes = *bytes;
      },
      "DRAM to keep to, as 100mb");
  app.add_option("--window", s.collector.window_seconds, "seconds of the collector's window")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--dir", s.directory, "on a disk: for COLD")->capture_default_str();
  app.add_option("--seed", s.seed, "of the requests (default: another one each run, printed)");
  CLI11_PARSE(app, argc, argv);
  if (const auto done = isotherm::library::run(s); !done) {
    std::cerr << "library_phases: " << done.error().message << '\n';
    return 1;
  }
}
