// isotherm device probe: measures a device and prints its profile.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "device/probe.hpp"
#include "lab/charts/device_page.hpp"

namespace isotherm::cli {
namespace {

struct arguments {
  device::probe_options options;
  std::string directory = ".";
  std::string profile, page;
  bool quick = false, progress = false;
};

void print_curve(const std::string& label, const device::curve& c) {
  fmt::print("{:<26}", label);
  for (const auto& point : c) {
    fmt::print(" {:>2}: {:7.3f}", point.streams, point.bytes_per_s / 1e9);
    if (point.spread > 0) fmt::print(" ±{:2.0f}%", 50 * point.spread);
  }
  fmt::print("\n");
}

void print(const device::profile& p) {
  fmt::print("{}{}; GB/s by threads, ± half the spread of 5 samples\n", p.path,
             p.device.starts_with("emu:") ? ", emulated as " + p.device : "");
  print_curve("sequential read", p.sequential_read);
  for (const auto& c : p.sequential_read_sizes) {
    print_curve(fmt::format("sequential read of {} B", c.access_bytes), c.bandwidth);
  }
  for (const auto& c : p.mapped_read_sizes) {
    print_curve(fmt::format("mapped read of {} B", c.access_bytes), c.bandwidth);
  }
  for (const auto& c : p.random_read) {
    print_curve(fmt::format("random read of {} B", c.access_bytes), c.bandwidth);
  }
  print_curve("read of 10 B keys", p.strided_read.bandwidth);
  print_curve("write", p.write);
  for (const auto& i : p.interference) {
    fmt::print("beside {} writers           reads {:7.3f}  writes {:7.3f}\n", i.writers,
               i.read_bytes_per_s / 1e9, i.write_bytes_per_s / 1e9);
  }
  fmt::print("past the page cache: {}\n", p.direct.way);
  for (const auto& c : p.direct.sequential_read) {
    print_curve(fmt::format("sequential read of {} B", c.access_bytes), c.bandwidth);
  }
  for (const auto& c : p.direct.random_read) {
    print_curve(fmt::format("random read of {} B", c.access_bytes), c.bandwidth);
  }
  if (!p.direct.write.empty()) print_curve("write", p.direct.write);
  for (const auto& i : p.direct.interference) {
    fmt::print("beside {} writers           reads {:7.3f}  writes {:7.3f}\n", i.writers,
               i.read_bytes_per_s / 1e9, i.write_bytes_per_s / 1e9);
  }
  for (const auto& l : device::braid(p)) {
    fmt::print("{} {:<6} {}\n", l.letter, name(l.holds), l.why);
  }
}

void run(arguments& a) {
  if (a.quick) {
    a.options.file_bytes = 64 << 20;
    a.options.sample_seconds = 0.02;
  }
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  if (terminal || a.progress) {
    a.options.progress = [](std::string_view step) { fmt::print(stderr, "{}\n", step); };
  }
  report_file profile(a.profile);
  report_file page(a.page);
  auto p = device::probe(a.directory, a.options);
  if (!p) fail(p.error().message);
  print(*p);
  profile.write(device::to_json(*p), "probed");
  if (!a.page.empty()) page.write(lab::device_page(*p), "probed");
}

}  // namespace

void add_device(command root) {
  auto a = std::make_shared<arguments>();
  const command device = root.subcommand("device", "Storage devices");
  device.require_subcommand();
  const command c = device.subcommand("probe", "Measure a device: bandwidths and BRAID letters");
  c.add("directory", a->directory, "a directory on the device").required();
  c.add("-o,--output", a->profile, "write the profile, as JSON, to this file");
  c.add("--html", a->page, "draw the profile on an HTML page in this file");
  c.add("--device", a->options.emulated, "emulate a device over the directory: emu:pmem@1/8");
  c.add_switch("--quick", a->quick, "shorter measurements, of less certain numbers");
  c.add_switch("--progress", a->progress,
               "say what is measured even when standard error is no terminal");
  c.action([a] { run(*a); });
}

}  // namespace isotherm::cli
