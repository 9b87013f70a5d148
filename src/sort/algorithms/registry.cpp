#include "sort/algorithms/registry.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/check.hpp"
#include "sort/index_sort/forecast.hpp"
#include "sort/index_sort/index_sort.hpp"
#include "sort/index_sort/variants.hpp"

namespace isotherm::sort {

// An algorithm is defined in the file of its name.
extern const algorithm kEms;
extern const algorithm kSamplesort;

namespace {

constexpr algorithm algorithm_of(const variant& v) {
  return {.id = v.id,
          .name = v.name,
          .candidate = false,
          .check = v.accepts == accepted::all_options ? take_all_options : take_whole_fixed_records,
          .way = v.way,
          .obstacle = index_sort_obstacle,
          .predict = predict_index_sort,
          .temporary_bytes = index_run_bytes,
          .run = sort_by_index};
}

constexpr auto kIndexSorts = [] {
  std::array<algorithm, kVariants.size()> rows{};
  std::ranges::transform(kVariants, rows.begin(), algorithm_of);
  return rows;
}();

constexpr std::size_t position(sort_algorithm id) { return static_cast<std::size_t>(id); }

/// All algorithms, each at the position of its id.
constexpr auto kAlgorithms = [] {
  std::array<const algorithm*, kIndexSorts.size() + 2> all{};
  for (const algorithm& each : kIndexSorts) all[position(each.id)] = &each;
  all[position(sort_algorithm::ems)] = &kEms;
  all[position(sort_algorithm::samplesort)] = &kSamplesort;
  return all;
}();
static_assert(std::ranges::find(kAlgorithms, nullptr) == kAlgorithms.end(),
              "each id must have exactly one row");

}  // namespace

std::span<const algorithm* const> algorithms() noexcept { return kAlgorithms; }

const algorithm& find(sort_algorithm id) {
  ISO_CHECK(position(id) < kAlgorithms.size(), "each sort_algorithm has its row");
  return *kAlgorithms[position(id)];
}

base::result<plan> make_plan(const sort_options& options, sort_algorithm algorithm,
                             const facts& known) {
  auto p = make_plan(options, find(algorithm).way, known);
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
