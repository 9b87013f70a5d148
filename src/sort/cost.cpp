#include "sort/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "device/io.hpp"
#include "device/profile.hpp"
#include "os/clock.hpp"

namespace isotherm::sort {
namespace {

using device::access;

constexpr sort_algorithm kCandidates[] = {sort_algorithm::onepass,     sort_algorithm::mergepass,
                                          sort_algorithm::ems,         sort_algorithm::samplesort,
                                          sort_algorithm::pmsort,      sort_algorithm::pmsort_plus,
                                          sort_algorithm::modified_key};

/// Time to sort one entry on this processor now: a small sort, measured.
double measure_entry_ns() {
  std::vector<entry> entries(1 << 16);
  base::random random(1);
  for (auto& e : entries) e = (entry{random()} << 64) | random();
  device::thread_pool pool;
  const std::uint64_t start = os::monotonic_ns();
  sort_entries(entries, pool, 1);
  return static_cast<double>(os::monotonic_ns() - start) / static_cast<double>(entries.size());
}

/// Sums up the seconds of one algorithm's moves.
class bill {
 public:
  bill(const device::model& d, const plan& p) : device_(d), plan_(p) {}
  void sequential(double bytes) {
    add(bytes, device_.bandwidth(access::sequential_read, plan_.read_threads, 1 << 20));
  }
  void random(double bytes, std::uint64_t each) {
    add(bytes, device_.bandwidth(access::random_read, plan_.random_threads, each));
  }
  void written(double bytes) {
    add(bytes, device_.bandwidth(access::write, plan_.write_threads, 1 << 20));
  }
  void processor(double seconds) { total_ += seconds; }
  double total() const noexcept { return total_; }

 private:
  void add(double bytes, double bandwidth) { total_ += bandwidth > 0 ? bytes / bandwidth : 0; }
  const device::model& device_;
  const plan& plan_;
  double total_ = 0;
};

void bill_index_sort(bill& b, const plan& p, const sort_options& o, double bytes, double records,
                     bool merges) {
  const double entries = records * record_layout(o).entries().packed_bytes();
  if (p.sequential_load || o.format == record_format::lines) {
    b.sequential(bytes);
  } else {
    b.random(records * static_cast<double>(o.key_bytes), o.key_bytes);
  }
  if (merges) {
    b.written(entries);
    b.sequential(entries);
    b.processor(records * 40e-9);
  }
  if (p.scan_gather) {
    b.sequential(bytes * std::max(1.0, bytes / static_cast<double>(p.output_buffer_bytes)));
  } else {
    b.random(bytes, static_cast<std::uint64_t>(bytes / std::max(1.0, records)));
  }
  b.written(bytes);
}

}  // namespace

base::result<device_choice> find_device(const std::string& name) {
  device_choice choice;
  if (name.empty()) return choice;
  choice.known = true;
  if (name.starts_with("emu:")) {
    auto m = device::preset(name);
    if (!m) return std::unexpected(m.error());
    choice.emulated = true;
    choice.numbers = std::move(*m);
    return choice;
  }
  auto profile = device::load_profile(name);
  if (!profile) return std::unexpected(profile.error());
  choice.numbers = device::as_model(*profile);
  return choice;
}

double predict(const plan& p, const sort_options& o, std::uint64_t input_bytes,
               const device::model& d, double entry_ns) {
  const double bytes = static_cast<double>(input_bytes);
  // Without a look at the input, records of klv and lines are taken to have 100 bytes.
  const double each = o.format == record_format::fixed ? static_cast<double>(o.record_bytes) : 100;
  const double records = bytes / each;
  const bool merges = p.must_merge || records > static_cast<double>(p.index_entries);
  bill b(d, p);
  b.processor(records * entry_ns * 1e-9 / p.sort_threads);
  if (p.algorithm == sort_algorithm::ems) {
    b.sequential(2 * bytes);
    b.written(2 * bytes);
    b.processor(records * 60e-9);
  } else if (p.algorithm == sort_algorithm::samplesort) {
    // The copy, then one read and one write of everything at each level of 64 buckets.
    double levels = 1;
    for (double n = records; n > 4096; n /= 64) ++levels;
    b.random(bytes * (1 + levels), o.record_bytes);
    b.written(bytes * (1 + levels));
  } else {
    bill_index_sort(b, p, o, bytes, records, merges);
  }
  return b.total();
}

base::result<algorithm_choice> choose(const sort_options& o, std::uint64_t input_bytes,
                                      const device::model* device) {
  if (device == nullptr) return algorithm_choice{o.algorithm, 0};
  const double entry_ns = measure_entry_ns();
  if (o.algorithm != sort_algorithm::automatic) {
    auto p = make_plan(o, o.algorithm, input_bytes, device);
    if (!p) return std::unexpected(p.error());
    return algorithm_choice{o.algorithm, predict(*p, o, input_bytes, *device, entry_ns)};
  }
  algorithm_choice best;
  const bool only_index = o.format != record_format::fixed || !o.writes_all();
  for (const auto algorithm :
       {sort_algorithm::automatic, sort_algorithm::ems, sort_algorithm::samplesort}) {
    if (only_index && algorithm != sort_algorithm::automatic) break;
    auto p = make_plan(o, algorithm, input_bytes, device);
    if (!p) return std::unexpected(p.error());
    const double seconds = predict(*p, o, input_bytes, *device, entry_ns);
    if (algorithm == sort_algorithm::automatic || seconds < best.predicted_seconds) {
      best = {algorithm, seconds};
    }
  }
  return best;
}

double device_share(const stage_report& s, const plan& p, const sort_options& o,
                    const device::model& d) {
  if (s.seconds <= 0) return 0;
  const double bytes = static_cast<double>(s.bytes_read + s.bytes_written);
  double limit = 0;
  switch (s.stage) {
    case sort_stage::run_read:
      limit = p.sequential_load || p.algorithm == sort_algorithm::ems
                  ? d.bandwidth(access::sequential_read, p.read_threads, 1 << 20)
                  : d.bandwidth(access::random_read, p.strided_threads, o.key_bytes);
      break;
    case sort_stage::record_read:
      limit = d.bandwidth(access::random_read, p.random_threads,
                          o.format == record_format::fixed ? o.record_bytes : 100);
      break;
    case sort_stage::merge_read:
      limit = d.bandwidth(access::sequential_read, p.read_threads, 1 << 20);
      break;
    case sort_stage::run_write:
    case sort_stage::merge_write:
      limit = d.bandwidth(access::write, p.write_threads, 1 << 20);
      break;
    default:
      return 0;
  }
  return limit > 0 ? bytes / s.seconds / limit : 0;
}

}  // namespace isotherm::sort

namespace isotherm {

base::result<std::vector<sort_prediction>> explain_sort(const std::string& input,
                                                        const sort_options& o) {
  auto f = device::file::open(input);
  if (!f) return std::unexpected(f.error());
  auto bytes = f->size();
  if (!bytes) return std::unexpected(bytes.error());
  auto device = sort::find_device(o.device);
  if (!device) return std::unexpected(device.error());
  if (!device->known) {
    return std::unexpected(base::error{
        "--explain needs --device: a profile that `isotherm device probe` wrote, or emu:...", 0});
  }
  const double entry_ns = sort::measure_entry_ns();
  std::vector<sort_prediction> all;
  for (const auto algorithm : sort::kCandidates) {
    sort_prediction one{algorithm, 0, ""};
    auto p = sort::make_plan(o, algorithm, *bytes, &device->numbers);
    const std::uint64_t records =
        *bytes /
        (o.format == record_format::fixed ? std::max<std::uint64_t>(1, o.record_bytes) : 1);
    if (!p) {
      one.obstacle = p.error().message;
    } else if (!p->may_merge && o.format == record_format::fixed && records > p->index_entries) {
      one.obstacle = "the index map does not fit in the memory limit";
    } else {
      one.seconds = sort::predict(*p, o, *bytes, device->numbers, entry_ns);
    }
    all.push_back(std::move(one));
  }
  std::sort(all.begin(), all.end(), [](const sort_prediction& a, const sort_prediction& b) {
    return a.obstacle.empty() != b.obstacle.empty() ? a.obstacle.empty() : a.seconds < b.seconds;
  });
  return all;
}

}  // namespace isotherm
