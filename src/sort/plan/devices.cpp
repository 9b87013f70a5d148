#include "sort/plan/devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "device/profile.hpp"
#include "os/files/file_system.hpp"
#include "os/files/paths.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kWindow = 128 << 10;  // bytes that a merge reads of a run at a time
constexpr std::uint64_t kLargeAccess = 1 << 20;

/// Seconds that a directory's device takes at best to write a byte of a run and to read it in a
/// merge; 0 if its numbers are not known.
double slowness(const run_directory& d) {
  using enum isotherm::device::access;
  if (d.numbers == nullptr) return 0;
  const isotherm::device::model& m = *d.numbers;
  return 1 / m.bandwidth(write, isotherm::device::best_streams(m.write), kLargeAccess) +
         1 / m.bandwidth(random_read, isotherm::device::best_streams(m.random_read), kWindow);
}

}  // namespace

run_seconds seconds_of_runs(const run_directory& d, double bytes) {
  using enum isotherm::device::access;
  if (d.numbers == nullptr) return {};
  return {.write = bytes / d.numbers->bandwidth(write, d.use.write_threads, kLargeAccess),
          .read = bytes / d.numbers->bandwidth(sequential_read, d.use.read_threads, kLargeAccess)};
}

sort_place place_of(const run_directory& d, std::uint64_t bytes) {
  const run_seconds s = seconds_of_runs(d, static_cast<double>(bytes));
  return {.directory = d.path,
          .device = d.numbers != nullptr ? d.numbers->name : "",
          .bytes = bytes,
          .seconds = s.write + s.read};
}

/// Plans for whole files take what comes through the page cache; runs are placed by what the device
/// itself does, as a cache would make all devices alike.
base::result<std::unique_ptr<devices::device>> devices::find(const std::string& name, role r) {
  auto found = std::make_unique<device>();
  if (name.starts_with("emu:")) {
    auto m = isotherm::device::preset(name);
    if (!m) return std::unexpected(m.error());
    found->numbers = std::move(*m);
    found->emulation = std::make_unique<isotherm::device::emulation>(found->numbers);
    return found;
  }
  auto profile = isotherm::device::load_profile(name);
  if (!profile) return std::unexpected(profile.error());
  found->numbers = r == role::whole ? isotherm::device::as_model(*profile)
                                    : isotherm::device::model_past_the_cache(*profile);
  return found;
}

base::result<void> devices::add(const sort_directory& named) {
  const auto refused = [&](const std::string& message) {
    return std::unexpected(base::error{"--tmp: " + message, 0});
  };
  if (auto r = os::check_writable(named.path); !r) return refused(r.error().message);
  const auto room = os::free_space(named.path);
  if (!room) return refused(room.error().message);
  run_directory d{.path = named.path,
                  .numbers = of_runs_,
                  .free_bytes = *room,
                  .apart = !named.device.empty(),
                  .use = {.emulation = emulation()}};
  if (d.apart) {
    auto own = find(named.device, role::runs);
    if (!own) return refused(own.error().message);
    d.numbers = &(*own)->numbers;
    d.use.emulation = (*own)->emulation.get();
    others_.push_back(std::move(*own));
  }
  directories_.push_back(std::move(d));
  return {};
}

base::result<devices> devices::open(const sort_options& o, const std::string& usual) {
  devices all;
  if (!o.device.empty()) {
    auto main = find(o.device, role::whole);
    if (!main) return std::unexpected(main.error());
    all.main_ = std::move(*main);
    all.of_runs_ = &all.main_->numbers;
    if (!o.emulates()) {
      auto itself = find(o.device, role::runs);
      if (!itself) return std::unexpected(itself.error());
      all.of_runs_ = &(*itself)->numbers;
      all.others_.push_back(std::move(*itself));
    }
  }
  std::vector<sort_directory> named = o.temporary_directories;
  if (!o.temporary_directory.empty()) named.insert(named.begin(), {o.temporary_directory, ""});
  for (auto each = named.begin(); each != named.end(); ++each) {
    const auto same = std::find_if(named.begin(), each, [&](const sort_directory& other) {
      return os::same_file(other.path, each->path);
    });
    if (same == each) {
      if (auto r = all.add(*each); !r) return std::unexpected(r.error());
    } else if (same->device != each->device) {
      return std::unexpected(
          base::error{fmt::format("--tmp: {} and {} are one directory: name one device for it",
                                  same->path, each->path),
                      0});
    }
  }
  if (all.directories_.empty()) {
    all.directories_.push_back(
        {.path = usual, .numbers = all.of_runs_, .use = {.emulation = all.emulation()}});
  }
  std::ranges::sort(all.directories_, {}, [](const run_directory& d) {
    const double seconds = slowness(d);
    return std::tuple(seconds == 0, seconds, ~d.free_bytes);  // the unknown last, by their room
  });
  return all;
}

base::result<std::string> directory_for_copies(const sort_options& o, const std::string& usual) {
  const auto all = devices::open(o, usual);
  if (!all) return std::unexpected(all.error());
  return all->roomiest();
}

const std::string& devices::roomiest() const noexcept {
  return std::ranges::max_element(directories_, {}, &run_directory::free_bytes)->path;
}

}  // namespace isotherm::sort
