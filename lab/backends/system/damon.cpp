#include "lab/backends/system/damon.hpp"

#include <fmt/format.h>

#include "base/numbers.hpp"

namespace isotherm::lab {
namespace {

constexpr const char* kFolder = "/sys/kernel/mm/damon/admin/kdamonds";

/// Writes files below a folder until one fails.
class writer {
 public:
  explicit writer(std::string folder) : folder_(std::move(folder)) {}

  void write(const std::string& file, const std::string& text) {
    if (result_) result_ = write_text(folder_ + '/' + file, text);
  }
  void write(const std::string& file, std::uint64_t number) { write(file, std::to_string(number)); }
  const base::result<void>& result() const noexcept { return result_; }

 private:
  std::string folder_;
  base::result<void> result_;
};

std::string folder_of(std::size_t monitor) { return fmt::format("{}/{}", kFolder, monitor); }

void write_target(writer& files, const damon_monitor& wanted) {
  const std::string target = "contexts/0/targets/0/";
  files.write("contexts/0/targets/nr_targets", 1);
  if (wanted.process != 0) files.write(target + "pid_target", wanted.process);
  files.write(target + "regions/nr_regions", wanted.ranges.size());
  for (std::size_t i = 0; i < wanted.ranges.size(); ++i) {
    files.write(fmt::format("{}regions/{}/start", target, i), wanted.ranges[i].begin);
    files.write(fmt::format("{}regions/{}/end", target, i), wanted.ranges[i].end);
  }
}

void write_scheme(writer& files, const damon_scheme& scheme, const std::string& folder,
                  unsigned samples) {
  constexpr std::uint64_t kAny = ~std::uint32_t{0};
  files.write(folder + "action", scheme.action);
  if (scheme.target) files.write(folder + "target_nid", *scheme.target);
  const std::string pattern = folder + "access_pattern/";
  files.write(pattern + "sz/min", 0);
  files.write(pattern + "sz/max", ~std::uint64_t{0});
  files.write(pattern + "nr_accesses/min", (samples * scheme.least_percent + 99) / 100);
  files.write(pattern + "nr_accesses/max", samples * scheme.most_percent / 100);
  files.write(pattern + "age/min", scheme.least_age);
  files.write(pattern + "age/max", kAny);
  if (scheme.bytes_a_second == 0) return;
  files.write(folder + "quotas/bytes", scheme.bytes_a_second);
  files.write(folder + "quotas/reset_interval_ms", 1000);
}

base::result<void> set_up(std::size_t number, const damon_monitor& wanted) {
  writer files(folder_of(number));
  files.write("contexts/nr_contexts", 1);
  files.write("contexts/0/operations", wanted.operations);
  const std::string attributes = "contexts/0/monitoring_attrs/";
  const std::uint64_t sample_us = wanted.sample_ms * std::uint64_t{1000};
  files.write(attributes + "intervals/sample_us", sample_us);
  files.write(attributes + "intervals/aggr_us", sample_us * wanted.samples);
  files.write(attributes + "intervals/update_us", sample_us * wanted.samples);
  // The most first: it is refused below the least.
  files.write(attributes + "nr_regions/max", wanted.most_regions);
  files.write(attributes + "nr_regions/min", wanted.least_regions);
  write_target(files, wanted);
  files.write("contexts/0/schemes/nr_schemes", wanted.schemes.size());
  for (std::size_t i = 0; i < wanted.schemes.size(); ++i) {
    write_scheme(files, wanted.schemes[i], fmt::format("contexts/0/schemes/{}/", i),
                 wanted.samples);
  }
  files.write("state", "on");
  return files.result();
}

}  // namespace

base::result<damon> damon::start(system_changes& changes, std::span<const damon_monitor> wanted) {
  if (read_text(std::string(kFolder) + "/nr_kdamonds") != "0") {
    return std::unexpected(base::error{
        fmt::format("another program uses DAMON: end it, and write 0 to {}/nr_kdamonds", kFolder)});
  }
  if (auto noted = changes.note(change::damon, kFolder); !noted) {
    return std::unexpected(noted.error());
  }
  if (auto wrote = write_text(std::string(kFolder) + "/nr_kdamonds", std::to_string(wanted.size()));
      !wrote) {
    return std::unexpected(wrote.error());
  }
  std::vector<std::size_t> schemes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (auto done = set_up(i, wanted[i]); !done) return std::unexpected(done.error());
    schemes.push_back(wanted[i].schemes.size());
  }
  return damon(std::move(schemes));
}

std::vector<std::uint64_t> damon::applied_bytes(unsigned monitor) const {
  const std::string folder = folder_of(monitor);
  // Fails where the monitor has ended with its process: the last figures stand.
  static_cast<void>(write_text(folder + "/state", "update_schemes_stats"));
  std::vector<std::uint64_t> bytes;
  for (std::size_t i = 0; i < schemes_[monitor]; ++i) {
    const std::string text =
        read_text(fmt::format("{}/contexts/0/schemes/{}/stats/sz_applied", folder, i));
    bytes.push_back(base::parse_number<std::uint64_t>(text).value_or(0));
  }
  return bytes;
}

void damon::stop() const { static_cast<void>(end_damon(kFolder)); }

std::string why_no_damon() {
  if (!read_text(std::string(kFolder) + "/nr_kdamonds").empty()) return {};
  return "the kernel has no DAMON: it needs CONFIG_DAMON_SYSFS";
}

base::result<void> end_damon(const std::string& folder) {
  const auto monitors = base::parse_number<unsigned>(read_text(folder + "/nr_kdamonds"));
  for (unsigned i = 0; i < monitors.value_or(0); ++i) {
    // Refused where it has ended by itself.
    static_cast<void>(write_text(fmt::format("{}/{}/state", folder, i), "off"));
  }
  return monitors.value_or(0) == 0 ? base::result<void>()
                                   : write_text(folder + "/nr_kdamonds", "0");
}

}  // namespace isotherm::lab
