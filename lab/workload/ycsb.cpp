#include "lab/workload/ycsb.hpp"

#include <cctype>

namespace isotherm::workload {
namespace {

operation choose(const mix& shares, std::uint64_t percent) noexcept {
  if (percent < shares.read) return operation::read;
  percent -= shares.read;
  if (percent < shares.update) return operation::update;
  percent -= shares.update;
  if (percent < shares.insert) return operation::insert;
  percent -= shares.insert;
  return percent < shares.scan ? operation::scan : operation::modify;
}

}  // namespace

const char* name_of(operation kind) noexcept {
  switch (kind) {
    case operation::read:
      return "read";
    case operation::update:
      return "update";
    case operation::insert:
      return "insert";
    case operation::scan:
      return "scan";
    case operation::modify:
      break;
  }
  return "modify";
}

base::result<ycsb_workload> parse_workload(const std::string& text) {
  const int letter = text.size() == 1 ? std::tolower(static_cast<unsigned char>(text[0])) : 0;
  switch (letter) {
    case 'a':
      return ycsb_workload{'a', {.read = 50, .update = 50}};
    case 'b':
      return ycsb_workload{'b', {.read = 95, .update = 5}};
    case 'c':
      return ycsb_workload{'c', {.read = 100}};
    case 'd':
      return ycsb_workload{'d', {.read = 95, .insert = 5}, distribution::latest};
    case 'e':
      return ycsb_workload{'e', {.insert = 5, .scan = 95}};
    case 'f':
      return ycsb_workload{'f', {.read = 50, .modify = 50}};
    default:
      break;
  }
  return std::unexpected(base::error{"unknown workload '" + text + "'; choose one of a to f"});
}

void request_stream::fill(std::span<request> batch) noexcept {
  std::uint64_t at = seed_ / 2 + next_batch_ * batch.size();  // in a trace
  base::random random(seed_ + base::mix64(next_batch_++));
  const auto* const trace = chooser_.trace();
  for (request& next : batch) {
    next.kind = choose(shares_, random.below(100));
    next.key = next.kind == operation::insert ? 0
               : trace                        ? (*trace)[at++ % trace->size()]
                                              : chooser_(random);
    if (next.kind == operation::scan) {
      next.scan_length = static_cast<std::uint8_t>(1 + random.below(kLongestScan));
    }
  }
}

}  // namespace isotherm::workload
