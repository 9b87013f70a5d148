// isotherm trace: generates traces of requests, and tells what is in one.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/fail.hpp"
#include "cli/report_file.hpp"
#include "lab/traces/analyze/picture.hpp"
#include "lab/traces/analyze/report.hpp"
#include "lab/traces/generate/generator.hpp"
#include "lab/traces/writer.hpp"
#include "tool/origin.hpp"

namespace isotherm::cli {
namespace {

struct generate_flags {
  std::string name;
  std::string output;
  traces::generate_options options;
};

void write_trace(const generate_flags& asked) {
  const auto made = traces::generate(asked.name, asked.options);
  if (!made) refuse_words(made.error().message);
  auto file = traces::writer::create(asked.output);
  if (!file) fail(file.error().message);
  traces::request next;
  for (;;) {
    const auto more = (*made)->next(next);
    if (!more) fail(more.error().message);
    if (!*more) break;
    require(file->add(next));
  }
  require(file->finish());
}

void add_generate(command trace) {
  const command c = trace.subcommand("generate", "draw a trace from published parameters");
  auto asked = std::make_shared<generate_flags>();
  auto& draw = asked->options;
  c.add("name", asked->name, "generator").required();
  c.add("-o,--output", asked->output,
        "file for the requests as plain CSV, compressed if its name ends in .zst, .gz or .lz4; - "
        "is standard output")
      .required();
  c.add("--requests", draw.requests, "number of requests", std::uint64_t{1});
  c.add("--seed", draw.seed, "of the random numbers: the same seed draws the same requests");
  c.add("--keys", draw.keys, "number of keys (default: the generator's)");
  c.add("--rate", draw.rate,
        "requests a second by the trace's clock; 0: the published rate, or 10,000", 0, 1e9);
  c.add("--distributions", draw.distributions,
        "of cachelib: folder with config.json, pop.json and sizes.json");
  std::string text = "Generators:\n";
  for (const auto& each : traces::generators()) {
    text += fmt::format("  {:<14} {}\n", each.name, each.about);
  }
  c.footer(text +
           "A generated trace has the distributions that were published, not the bursts and "
           "shifts of the\nservice. docs/benchmarks/traces.md tells what each one draws.");
  c.action([asked] { write_trace(*asked); });
}

struct analyze_flags {
  std::string trace;
  traces::file_options how;
  std::uint64_t follow = traces::follow_limits{}.keys;
  std::string json, picture;
};

void tell(const analyze_flags& asked) {
  const auto opened = traces::open(asked.trace, asked.how);
  if (!opened) fail(opened.error().message);
  report_file json(asked.json == "-" ? "" : asked.json);
  report_file picture(asked.picture);
  traces::follow_limits limits;
  limits.keys = asked.follow;
  const auto found = traces::analyze(**opened, limits);
  if (!found) fail(found.error().message);
  auto object = traces::to_json(*found, asked.trace);
  object["origin"] = tool::origin();
  const std::string line = tool::text_of(object) + '\n';
  fmt::print("{}", asked.json == "-" ? line : traces::to_text(*found, asked.trace));
  const std::string done = "the trace was analyzed";
  json.write(line, done);
  picture.write(traces::to_svg(*found, asked.trace), done);
}

void add_analyze(command trace) {
  const command c =
      trace.subcommand("analyze", "tell what is in a trace: popularity, sizes, reuse, change");
  auto asked = std::make_shared<analyze_flags>();
  c.add("file", asked->trace,
        "trace, compressed by gzip, zstd, lz4 or xz or not; - is standard input")
      .required();
  c.add("--format", asked->how.format, "format of the file (default: found by its contents)");
  c.add("--columns", asked->how.columns, "columns of CSV without a header line, as time,key,-,op");
  c.add("--follow", asked->follow,
        "number of keys up to which all are followed; of more, a sample of about as many",
        std::uint64_t{1}, traces::follow_limits::kMostKeys);
  c.add("--json", asked->json, "write the figures as one JSON object to FILE; - prints it");
  c.add("--picture", asked->picture, "draw the figures to FILE as SVG");
  c.footer(
      "Formats:\n" + traces::describe_formats() +
      "A sample is one of keys by their hashes (SHARDS). Lines that cannot be read are counted, "
      "and the\nfirst are named. docs/benchmarks/traces.md tells what each figure means.");
  c.action([asked] { tell(*asked); });
}

}  // namespace

void add_trace(command root) {
  const command trace = root.subcommand("trace", "generate and analyze traces of requests");
  trace.require_subcommand();
  add_generate(trace);
  add_analyze(trace);
}

}  // namespace isotherm::cli
