#include "cli/sort/splitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/fail.hpp"
#include "tool/origin.hpp"

namespace isotherm::cli {
namespace {

constexpr unsigned kMostParts = 1 << 16;

/// Returns the names of the parts: numbers of one width, so that the shell's order of `name.*` is
/// theirs.
std::vector<std::string> part_names(const std::string& name, unsigned parts) {
  const std::size_t width = fmt::formatted_size("{}", parts - 1);
  std::vector<std::string> names;
  for (unsigned i = 0; i < parts; ++i) names.push_back(fmt::format("{}.{:0{}}", name, i, width));
  return names;
}

}  // namespace

void add_splitting(command c, splitting& s) {
  const option split =
      c.add("--split", s.parts,
            "do not sort: write each record to one of N files, -o NAME.0 and so on, by ranges of "
            "keys; sorted apart and put together they are the sorted input",
            2U, kMostParts)
          .value_name("N")
          .hide_default();
  c.add("--boundaries", s.boundaries,
        "with --split: file of the N-1 records that begin all parts but the first, in order; "
        "without it a sample of the input chooses them")
      .value_name("FILE")
      .needs(split);
  c.add("--sample", s.sample, "do not sort: write N records from even places of the input, sorted",
        std::uint64_t{1})
      .value_name("N")
      .hide_default()
      .excludes(split);
}

void check(const splitting& s, const sort_arguments& a) {
  if (!s.asked()) return;
  const std::string_view flag = s.parts != 0 ? "--split" : "--sample";
  if (!a.check.empty() || a.check_silently || a.explain) {
    refuse_words(fmt::format("{}: leave out -c, -C and --explain", flag));
  }
  if (s.parts != 0 && a.output == "-") {
    refuse_words("--split: name the parts by -o NAME; they are NAME.0, NAME.1 and so on");
  }
}

base::result<split_report> split_or_sample(const splitting& s, const sort_arguments& a) {
  if (s.parts != 0) {
    return split_files(a.inputs,
                       {.outputs = part_names(a.output, s.parts), .boundaries = s.boundaries},
                       a.options);
  }
  const auto records = sample_files(a.inputs, a.output, s.sample, a.options);
  if (!records) return std::unexpected(records.error());
  split_report report;
  report.records = *records;
  return report;
}

std::string to_json(const split_report& r) {
  nlohmann::json parts = nlohmann::json::array();
  for (const split_part& p : r.parts) {
    parts.push_back({{"path", p.path}, {"records", p.records}, {"bytes", p.bytes}});
  }
  const nlohmann::json all = {{"origin", tool::origin()},
                              {"records", r.records},
                              {"input_bytes", r.input_bytes},
                              {"seconds", r.seconds},
                              {"parts", parts}};
  return tool::text_of(all, 2) + "\n";
}

std::string to_text(const split_report& r) {
  if (r.parts.empty()) return fmt::format("{} records sampled\n", r.records);
  const auto by_bytes = [](const split_part& a, const split_part& b) { return a.bytes < b.bytes; };
  const auto [least, most] = std::ranges::minmax_element(r.parts, by_bytes);
  return fmt::format("{} records, {} bytes, in {} parts of {} to {} bytes, in {:.3f} s\n",
                     r.records, r.input_bytes, r.parts.size(), least->bytes, most->bytes,
                     r.seconds);
}

}  // namespace isotherm::cli
