// Placements of pages: nodes lie where the arena puts them, and a policy (page_policies.hpp) says
// on a thread in the background which pages are fast.
#include <chrono>
#include <functional>
#include <utility>

#include "lab/tiers/page_policies.hpp"
#include "lab/tiers/placements.hpp"
#include "os/stoppable_thread.hpp"

namespace isotherm::lab {
namespace {

using placement::tier;
using policy_maker = std::function<std::unique_ptr<page_policy>(std::uint64_t expected)>;

class page_placement final : public tier_placement, placement::placer {
 public:
  page_placement(const placement_options& chosen, page_samples samples, policy_maker make)
      : tiers_(emulate_pages(samples), chosen.fast_bytes / page_tiers::kPageBytes),
        make_(std::move(make)),
        is_stepped_(chosen.is_stepped) {}
  ~page_placement() override { end(); }

  placement::placer& chooser() noexcept override { return *this; }
  /// Nodes lie in one range; their pages say what is fast.
  tier choose(std::size_t, const placement::node_place&) noexcept override { return tier::fast; }

  base::result<void> begin(placement::placed_tree&, const request_drive&) override {
    policy_ = make_(used_pages());
    add_pages();
    if (is_stepped_) return {};
    return thread_.start("iso-pages", [this] { work(); });
  }
  void step(placement::placed_tree&, std::uint64_t) override {
    if (policy_ == nullptr) return;  // the tree is not loaded yet
    add_pages();
    policy_->tick(tiers_);
  }
  void end() noexcept override { thread_.stop(); }
  std::uint64_t fast_bytes() const noexcept override {
    return tiers_.fast_pages() * page_tiers::kPageBytes;
  }
  std::uint64_t fast_page_bytes() const noexcept override { return fast_bytes(); }
  std::uint64_t moved_bytes() const override { return tiers_.moved() * page_tiers::kPageBytes; }
  nlohmann::json details() const override { return {{"moved_pages", tiers_.moved()}}; }

 private:
  static std::uint64_t used_pages() {
    const auto range = placement::used_range(tier::fast);
    return (range.end - range.begin + page_tiers::kPageBytes - 1) / page_tiers::kPageBytes;
  }
  void add_pages() {
    for (std::uint64_t page = tiers_.pages().size(); page < used_pages(); ++page) {
      tiers_.add(policy_->first_tier(tiers_, page));
    }
  }
  void work() {
    while (thread_.rest_for(std::chrono::milliseconds(100))) {
      add_pages();
      policy_->tick(tiers_);
    }
  }

  page_tiers tiers_;
  const policy_maker make_;
  const bool is_stepped_;
  std::unique_ptr<page_policy> policy_;
  os::stoppable_thread thread_;
};

template <auto MakePolicy, page_samples Samples = page_samples::taken>
std::unique_ptr<tier_placement> make(const placement_options& chosen) {
  return std::make_unique<page_placement>(chosen, Samples, MakePolicy);
}

}  // namespace

extern const placement_kind kInterleave, kTpp, kMemtis, kCaption;
constinit const placement_kind kInterleave = {"interleave", placed_unit::page, counting::none,
                                              make<make_interleave_policy, page_samples::none>};
constinit const placement_kind kTpp = {"tpp", placed_unit::page, counting::none,
                                       make<[](std::uint64_t) { return make_tpp_policy(); }>};
constinit const placement_kind kMemtis = {"memtis", placed_unit::page, counting::none,
                                          make<make_memtis_policy>};
constinit const placement_kind kCaption = {"caption", placed_unit::page, counting::none,
                                           make<make_caption_policy>};

}  // namespace isotherm::lab
