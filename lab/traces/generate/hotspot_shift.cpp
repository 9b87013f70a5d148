// A hot region that jumps. The parameters are ours, not published ones.
#include <algorithm>

#include "lab/traces/generate/descriptors.hpp"

namespace isotherm::traces {
namespace {

constexpr std::uint64_t kKeys = 1'000'000, kPhases = 4;
constexpr double kHotKeys = 0.1, kHotRequests = 0.9, kWrites = 0.05;

class hotspot_shift final : public generated_source {
 public:
  explicit hotspot_shift(const generate_options& asked)
      : generated_source(kHotspotShift.name, asked, 10'000),
        keys_(std::max<std::uint64_t>(asked.keys.value_or(kKeys), 1)),
        hot_(std::max<std::uint64_t>(
            static_cast<std::uint64_t>(kHotKeys * static_cast<double>(keys_)), 1)),
        phase_requests_(std::max<std::uint64_t>((asked.requests + kPhases - 1) / kPhases, 1)) {}

 private:
  void draw(request& to) override {
    const std::uint64_t begin = drawn_++ / phase_requests_ * hot_;
    const std::uint64_t number =
        random_.unit() < kHotRequests ? begin + random_.below(hot_) : random_.below(keys_);
    to.kind = random_.unit() < kWrites ? operation::set : operation::get;
    to.key = scattered("k", number % keys_);
    to.key_size = 30;
    to.value_size = 1024;
  }

  std::uint64_t keys_, hot_, phase_requests_;
  std::uint64_t drawn_ = 0;
};

base::result<std::unique_ptr<source>> make(const generate_options& asked) {
  return std::make_unique<hotspot_shift>(asked);
}

}  // namespace

const generator kHotspotShift = {
    .name = "hotspot-shift",
    .about =
        "90% of the requests to a tenth of 1,000,000 keys, another tenth in each quarter of "
        "the trace; 95% get, 5% set of 1024 bytes (parameters of our own)",
    .make = make};

}  // namespace isotherm::traces
