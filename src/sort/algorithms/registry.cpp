#include "sort/algorithms/registry.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/check.hpp"

namespace isotherm::sort {

// Each is defined in the file of its name.
extern const algorithm kAutomatic;
extern const algorithm kOnepass;
extern const algorithm kMergepass;
extern const algorithm kEms;
extern const algorithm kSamplesort;
extern const algorithm kPmsort;
extern const algorithm kPmsortPlus;
extern const algorithm kModifiedKey;

namespace {

constexpr std::array kAlgorithms = {&kAutomatic,  &kOnepass, &kMergepass,  &kEms,
                                    &kSamplesort, &kPmsort,  &kPmsortPlus, &kModifiedKey};

}  // namespace

std::span<const algorithm* const> algorithms() noexcept { return kAlgorithms; }

const algorithm& find(sort_algorithm id) {
  const auto found = std::ranges::find(kAlgorithms, id, &algorithm::id);
  ISO_CHECK(found != kAlgorithms.end(), "each sort_algorithm has its row in the registry");
  return **found;
}

base::result<plan> make_plan(const sort_options& options, sort_algorithm algorithm,
                             std::uint64_t input_bytes, const device::model* device) {
  auto p = make_plan(options, find(algorithm).way, input_bytes, device);
  if (p) p->algorithm = algorithm;
  return p;
}

}  // namespace isotherm::sort

namespace isotherm {

std::vector<sort_algorithm> sort_algorithms() {
  std::vector<sort_algorithm> all;
  for (const sort::algorithm* const each : sort::algorithms()) all.push_back(each->id);
  return all;
}

std::string_view name(sort_algorithm algorithm) noexcept { return sort::find(algorithm).name; }

}  // namespace isotherm
