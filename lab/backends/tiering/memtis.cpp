// An agent in the manner of MEMTIS (Lee et al., SOSP 2023), in user space: a histogram of pages by
// their accesses tells from which count on a page is hot, so that the hot pages fit into fast
// memory; counts are halved with time (page_heat.hpp). It differs from MEMTIS in this:
// - MEMTIS counts accesses that the processor samples (PEBS). Here the faults of NUMA balancing are
//   the samples: a page counts once a scan, however often it was accessed, so that the hottest
//   pages look alike.
// - NUMA balancing also promotes, in its mode 1, as long as the fast node has room. Then it stops,
//   and the agent alone exchanges pages.
// - Pages are of 4 KiB: there are no huge pages to split.
// - MEMTIS demotes before the fast node is full; here pages leave when others are to come.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <sstream>

#include "base/page.hpp"
#include "lab/backends/system/fault_trace.hpp"
#include "lab/backends/tiering/balancing.hpp"
#include "lab/backends/tiering/page_heat.hpp"
#include "os/memory/numa.hpp"
#include "os/proc_file.hpp"

namespace isotherm::lab {
namespace {

using clock = std::chrono::steady_clock;

constexpr auto kTurn = std::chrono::seconds(4);
constexpr unsigned kTurnsPerCooling = 4;
constexpr std::uint64_t kReserve = std::uint64_t{6} << 20;  // the kernel's own, of the fast node

/// Pages of a process.
struct resident_pages {
  std::vector<std::uintptr_t> fast, slow;
};

/// Returns the pages of writable ranges without a file.
std::vector<std::uintptr_t> anonymous_pages(pid_t process) {
  std::vector<std::uintptr_t> found;
  std::istringstream maps(os::read_proc_file(fmt::format("/proc/{}/maps", process).c_str()));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::string range, rights, offset, device, inode;
    words >> range >> rights >> offset >> device >> inode;
    if (!rights.starts_with("rw") || inode != "0") continue;
    const std::uintptr_t end = std::stoull(range.substr(range.find('-') + 1), nullptr, 16);
    for (auto page = std::stoull(range, nullptr, 16); page < end; page += base::kPageBytes) {
      found.push_back(page);
    }
  }
  return found;
}

/// The agent serves one store: addresses of several would be mixed up.
class memtis final : public balancing {
 public:
  memtis() : balancing(balancing_mode::all_nodes, demotion::off) {}

  base::result<void> start(backed_run& run) override {
    if (run.stores.size() > 1) {
      return std::unexpected(base::error{"memtis moves the pages of one store: name one"});
    }
    auto trace = fault_trace::start(run.changes, run.stores);
    if (!trace) return std::unexpected(trace.error());
    trace_.emplace(std::move(*trace));
    return balancing::start(run);
  }

  void step(backed_run& run) override {
    if (clock::now() < due_) return;
    due_ = clock::now() + kTurn;
    for (const std::uintptr_t address : trace_->take()) {
      heat_.add(address / base::kPageBytes * base::kPageBytes, 1);
      ++samples_;
    }
    move(run.stores.front());
    if (++turns_ % kTurnsPerCooling == 0) heat_.cool();
  }

  nlohmann::json details(const backed_run& run) const override {
    nlohmann::json found = tiering::details(run);
    found.update({{"samples", samples_},
                  {"turns", turns_},
                  {"promoted_pages", promoted_},
                  {"demoted_pages", demoted_},
                  {"hot_from", hot_from_}});
    return found;
  }

 private:
  resident_pages find_pages(pid_t process) const {
    const auto all = anonymous_pages(process);
    const auto where = os::nodes_of(process, all);
    resident_pages found;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (where[i] < 0) continue;
      const bool is_fast = std::ranges::count(nodes().fast, static_cast<unsigned>(where[i])) > 0;
      (is_fast ? found.fast : found.slow).push_back(all[i]);
    }
    return found;
  }

  std::size_t free_fast_pages() const {
    std::uint64_t free = 0;
    for (const unsigned node : nodes().fast) {
      const auto text = read_text(fmt::format("/sys/devices/system/node/node{}/meminfo", node));
      free += os::number_after(text, "MemFree:").value_or(0) * 1024;
    }
    return (free - std::min(free, kReserve)) / base::kPageBytes;
  }

  void move(pid_t process) {
    const resident_pages pages = find_pages(process);
    const std::size_t free = free_fast_pages();
    hot_from_ = heat_.hot_from(pages.fast.size() + free);
    const auto chosen = heat_.choose(pages.fast, pages.slow, free);
    demoted_ += os::move_to_node(process, chosen.demoted, nodes().slow.front());
    promoted_ += os::move_to_node(process, chosen.promoted, nodes().fast.front());
  }

  std::optional<fault_trace> trace_;
  page_heat heat_;
  clock::time_point due_ = clock::now() + kTurn;
  unsigned turns_ = 0;
  std::uint64_t samples_ = 0, promoted_ = 0, demoted_ = 0;
  std::uint32_t hot_from_ = 0;
};

std::string why_not(const backend_options&) {
  const std::string lacking = why_no_fault_trace();
  return lacking.empty() ? why_no_balancing() : lacking;
}

}  // namespace

extern const backend_kind kMemtisAgent =
    tiering_kind("memtis", "an agent moves pages by a histogram of their accesses, as MEMTIS does",
                 why_not, make_backend<memtis>);

}  // namespace isotherm::lab
