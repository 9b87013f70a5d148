#include "cli/sort/text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/fail.hpp"
#include "tool/origin.hpp"

namespace isotherm::cli {

namespace {

/// A line for each directory that runs go to.
std::string to_text(const std::vector<sort_place>& places) {
  std::string text;
  for (const sort_place& each : places) {
    text += fmt::format("  {} bytes of runs in {}", each.bytes, each.directory);
    if (each.seconds > 0) text += fmt::format(", {:.3f} s of {}", each.seconds, each.device);
    text += '\n';
  }
  return text;
}

std::string words_of_emulation(const sort_report& r) {
  if (!r.is_emulated()) return "";
  const bool all = r.device.starts_with("emu:");
  return all ? " on an emulated device, " + r.device : " with runs on an emulated device";
}

}  // namespace

std::string to_text(const sort_prediction& p) {
  const std::string_view called = name(p.algorithm);
  if (!p.obstacle.empty()) return fmt::format("{:<14} not here: {}\n", called, p.obstacle);
  std::string text = p.seconds > 0 ? fmt::format("{:<14} {:10.3f} s", called, p.seconds)
                                   : fmt::format("{:<14}          ? s", called);
  if (p.taken != p.algorithm) text += fmt::format("  takes {}", name(p.taken));
  if (!p.runs.empty()) text += "  " + p.runs;
  return text + "\n" + to_text(p.places);
}

std::string to_json(const sort_report& r) {
  nlohmann::json places = nlohmann::json::array();
  for (const auto& p : r.places) {
    places.push_back({{"directory", p.directory},
                      {"device", p.device},
                      {"emulated", p.is_emulated()},
                      {"bytes", p.bytes},
                      {"seconds", p.seconds}});
  }
  nlohmann::json stages = nlohmann::json::array();
  for (const auto& s : r.stages) {
    stages.push_back({{"stage", name(s.stage)},
                      {"seconds", s.seconds},
                      {"bytes_read", s.bytes_read},
                      {"bytes_written", s.bytes_written},
                      {"device_share", s.device_share}});
  }
  const nlohmann::json all = {{"origin", tool::origin()},
                              {"algorithm", r.algorithm},
                              {"concurrency", r.concurrency},
                              {"values", r.values},
                              {"device", r.device},
                              {"emulated", r.is_emulated()},
                              {"records", r.records},
                              {"records_written", r.records_written},
                              {"input_bytes", r.input_bytes},
                              {"output_bytes", r.output_bytes},
                              {"memory_limit_bytes", r.memory_limit_bytes},
                              {"runs", r.runs},
                              {"runs_compressed", r.runs_compressed},
                              {"index_map_bytes", r.index_map_bytes},
                              {"index_map_bytes_written", r.index_map_bytes_written},
                              {"seconds", r.seconds},
                              {"predicted_seconds", r.predicted_seconds},
                              {"read_threads", r.read_threads},
                              {"write_threads", r.write_threads},
                              {"sort_threads", r.sort_threads},
                              {"places", places},
                              {"stages", stages}};
  return tool::text_of(all, 2) + "\n";
}

std::string to_text(const sort_report& r) {
  std::string text = fmt::format("{} records, {} bytes, {} ({}, values {}) in {:.3f} s{}\n",
                                 r.records_written, r.output_bytes, r.algorithm, r.concurrency,
                                 r.values, r.seconds, words_of_emulation(r));
  if (r.predicted_seconds > 0) {
    text += fmt::format("the cost model predicted {:.3f} s\n", r.predicted_seconds);
  }
  if (r.runs_compressed > 0) {
    text += fmt::format("{} of {} runs compressed: {} bytes instead of {}\n", r.runs_compressed,
                        r.runs, r.index_map_bytes_written, r.index_map_bytes);
  }
  const bool elsewhere =
      r.places.size() > 1 || (!r.places.empty() && r.places.front().device != r.device);
  if (elsewhere) text += to_text(r.places);
  for (const auto& s : r.stages) {
    text += fmt::format("  {:<12} {:8.3f} s", name(s.stage), s.seconds);
    if (s.bytes_read > 0) text += fmt::format("  read {} bytes", s.bytes_read);
    if (s.bytes_written > 0) text += fmt::format("  wrote {} bytes", s.bytes_written);
    if (s.device_share > 0) text += fmt::format("  {:.0f}% of the device", 100 * s.device_share);
    text += '\n';
  }
  return text;
}

}  // namespace isotherm::cli
