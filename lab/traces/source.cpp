#include "lab/traces/source.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <istream>
#include <utility>

#include "lab/traces/binary_source.hpp"
#include "lab/traces/buffered_bytes.hpp"
#include "lab/traces/formats.hpp"
#include "lab/traces/text_source.hpp"

namespace isotherm::traces {
namespace {

/// Gives a source's errors the name of the file.
class named_source final : public source {
 public:
  named_source(std::unique_ptr<source> inner, std::string name)
      : inner_(std::move(inner)), name_(std::move(name)) {}

  base::result<bool> next(request& to) override {
    auto more = inner_->next(to);
    if (!more) more.error().message = name_ + ": " + more.error().message;
    return more;
  }
  const malformed_lines& malformed() const noexcept override { return inner_->malformed(); }
  std::string_view format() const noexcept override { return inner_->format(); }
  bool has_times() const noexcept override { return inner_->has_times(); }

 private:
  std::unique_ptr<source> inner_;
  std::string name_;
};

base::error unknown_format(std::string_view problem) {
  return {fmt::format("{}; --format is one of {}", problem, fmt::join(format_names(), ", "))};
}

base::result<const format*> choose_format(const file_options& how, std::string_view beginning) {
  if (!how.columns.empty() && (how.format.empty() || how.format == "csv"))
    return find_format("csv");
  if (!how.columns.empty()) return std::unexpected(base::error{"--columns is of --format csv"});
  if (!how.format.empty()) {
    if (const format* named = find_format(how.format)) return named;
    return std::unexpected(unknown_format(fmt::format("there is no format '{}'", how.format)));
  }
  if (beginning.empty()) return std::unexpected(base::error{"it is empty"});
  if (const format* guessed = guess_format(beginning)) return guessed;
  return std::unexpected(unknown_format("its contents do not tell its format"));
}

base::result<std::unique_ptr<source>> make(buffered_bytes bytes, const format& how,
                                           std::string_view columns) {
  using enum kind_of_format;
  if (how.kind == numbers || how.kind == oracle) return make_binary_source(std::move(bytes), how);
  if (how.kind == lines) return make_text_source(std::move(bytes), layout_of(how), how.name, 1);
  if (!columns.empty()) {
    auto parsed = parse_columns(columns);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    return make_text_source(std::move(bytes), {.columns = std::move(*parsed)}, how.name, 1);
  }
  const auto line = bytes.line();
  if (!line) return std::unexpected(line.error());
  auto named = *line ? parse_header((*line)->text) : std::nullopt;
  if (!named) {
    return std::unexpected(
        base::error{"its first line names no column 'key': name the columns by --columns"});
  }
  return make_text_source(std::move(bytes), {.columns = std::move(*named)}, how.name, 2);
}

base::result<std::unique_ptr<source>> open_bytes(std::unique_ptr<std::istream> stream,
                                                 const file_options& how) {
  buffered_bytes bytes{byte_stream(std::move(stream))};
  const auto beginning = bytes.beginning();
  if (!beginning) return std::unexpected(beginning.error());
  const auto chosen = choose_format(how, *beginning);
  if (!chosen) return std::unexpected(chosen.error());
  return make(std::move(bytes), **chosen, how.columns);
}

}  // namespace

void malformed_lines::add(std::uint64_t number, std::string reason) {
  ++count;
  if (first.size() < kKept) first.push_back({number, std::move(reason)});
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const format& each : formats()) names.push_back(each.name);
  return names;
}

std::string describe_formats() {
  std::string text;
  for (const format& each : formats()) {
    text += fmt::format("  {:<15} {}\n", each.name, each.about);
  }
  return text;
}

base::result<std::unique_ptr<source>> open(const std::string& path, const file_options& how) {
  auto file = std::make_unique<std::ifstream>(path == "-" ? "/dev/stdin" : path, std::ios::binary);
  if (!*file) return std::unexpected(base::system_error("cannot read the trace " + path, errno));
  return open_stream(std::move(file), path == "-" ? "standard input" : path, how);
}

base::result<std::unique_ptr<source>> open_stream(std::unique_ptr<std::istream> stream,
                                                  const std::string& name,
                                                  const file_options& how) {
  auto made = open_bytes(std::move(stream), how);
  if (!made) {
    made.error().message = name + ": " + made.error().message;
    return made;
  }
  return std::make_unique<named_source>(std::move(*made), name);
}

std::string describe(const malformed_lines& found) {
  if (found.count == 0) return "";
  std::string text = fmt::format("{} malformed line{}", found.count, found.count == 1 ? "" : "s");
  for (const auto& [number, reason] : found.first) {
    text += fmt::format("; line {}: {}", number, reason);
  }
  return text + (found.count > found.first.size() ? "; ..." : "");
}

}  // namespace isotherm::traces
