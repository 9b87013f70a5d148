// isotherm device probe: measures a device and prints its profile.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <memory>

#include "cli/commands.hpp"
#include "device/probe.hpp"

namespace isotherm::cli {
namespace {

struct arguments {
  device::probe_options options;
  std::string directory = ".";
  std::string profile;
  bool quick = false;
};

void print_curve(const std::string& what, const device::curve& c) {
  fmt::print("{:<26}", what);
  for (const auto& point : c) fmt::print(" {:>2}: {:7.3f}", point.streams, point.bytes_per_s / 1e9);
  fmt::print("\n");
}

void print(const device::profile& p) {
  fmt::print("{}{}; GB/s by threads\n", p.path,
             p.device.starts_with("emu:") ? ", emulated as " + p.device : "");
  print_curve("sequential read", p.sequential_read);
  for (const auto& c : p.random_read) {
    print_curve(fmt::format("random read of {} B", c.access_bytes), c.bandwidth);
  }
  print_curve("read of 10 B keys", p.strided_read.bandwidth);
  print_curve("write", p.write);
  for (const auto& l : device::braid(p)) {
    fmt::print("{} {}: {}\n", l.letter, l.holds ? "yes" : "no ", l.why);
  }
}

void run(arguments& a) {
  if (a.quick) {
    a.options.file_bytes = 64 << 20;
    a.options.point_seconds = 0.05;
  }
  a.options.progress = [](std::string_view what) { fmt::print(stderr, "{}\n", what); };
  auto p = device::probe(a.directory, a.options);
  if (!p) fail(p.error().message);
  print(*p);
  if (a.profile.empty()) return;
  std::ofstream out(a.profile);
  out << device::to_json(*p);
  if (!out.flush()) fail("cannot write " + a.profile);
}

}  // namespace

void add_device(CLI::App& app) {
  auto a = std::make_shared<arguments>();
  auto* device = app.add_subcommand("device", "Storage devices");
  device->require_subcommand(1);
  auto* c = device->add_subcommand("probe", "Measure a device: bandwidths and BRAID letters");
  c->add_option("directory", a->directory, "a directory on the device")->required();
  c->add_option("-o,--output", a->profile, "write the profile, as JSON, to this file");
  c->add_option("--device", a->options.emulated,
                "emulate a device over the directory: emu:pmem@1/8");
  c->add_flag("--quick", a->quick, "shorter measurements, of less certain numbers");
  c->callback([a] { run(*a); });
}

}  // namespace isotherm::cli
