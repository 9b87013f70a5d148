#include "lab/replay/values.hpp"

#include <algorithm>
#include <cstring>

#include "lab/workload/record.hpp"

namespace isotherm::replay {
namespace {

constexpr std::size_t kLongestCounter = 20;  // digits and a sign

bool is_counter(std::string_view value) noexcept {
  return !value.empty() && value.size() <= kLongestCounter &&
         value.find_first_not_of("-0123456789") == std::string_view::npos;
}

}  // namespace

std::string_view values::make(std::uint64_t number, std::uint32_t bytes) {
  if (made_.size() < bytes) made_.resize(bytes, 'v');
  const std::span<char> value = std::span(made_).first(bytes);
  if (bytes >= workload::record_format::kLeastValue) workload::stamp_value(value, number);
  return {value.data(), value.size()};
}

bool values::take(std::string_view value, std::uint64_t number) {
  if (taken_.size() < value.size()) taken_.resize(value.size());
  if (!value.empty()) std::memcpy(taken_.data(), value.data(), value.size());
  const std::string_view mine(taken_.data(), value.size());
  if (mine.size() < workload::record_format::kLeastValue || is_counter(mine)) return true;
  return workload::number_of(mine) == number;
}

}  // namespace isotherm::replay
