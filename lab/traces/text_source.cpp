#include "lab/traces/text_source.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace isotherm::traces {
namespace {

class text_source final : public source {
 public:
  text_source(buffered_bytes bytes, layout expected, std::string_view format,
              std::uint64_t first_line)
      : bytes_(std::move(bytes)),
        expected_(std::move(expected)),
        format_(format),
        lines_(first_line - 1) {}

  base::result<bool> next(request& to) override {
    if (left_ == 0) {
      const auto more = read_row();
      if (!more || !*more) return more;
    }
    to = row_.first;
    if (row_.keys > 0) {
      key_.assign(row_.prefix);
      if (!key_.empty()) key_ += ':';
      fmt::format_to(std::back_inserter(key_), "{}", row_.number++);
      to.key = key_;
    }
    --left_;
    ++given_;
    return true;
  }
  const malformed_lines& malformed() const noexcept override { return malformed_; }
  std::string_view format() const noexcept override { return format_; }
  bool has_times() const noexcept override { return expected_.has(column::time); }

 private:
  /// Reads the next line that is well formed into row_; false at the end.
  base::result<bool> read_row() {
    for (;;) {
      const auto line = bytes_.line();
      if (!line && given_ == 0 && malformed_.count == 0) return std::unexpected(line.error());
      if (!line) malformed_.add(lines_ + 1, line.error().message);
      if (!line) return end();
      const auto& there = *line;
      if (!there) return end();
      ++lines_;
      const auto& [text, is_too_long] = *there;
      if (is_too_long) {
        malformed_.add(lines_, "it is longer than 1 MiB");
      } else if (!text.empty()) {
        auto found = parse_row(text, expected_);
        if (found) {
          row_ = *found;
          left_ = row_.keys > 0 ? row_.keys : row_.repeats;
          return true;
        }
        malformed_.add(lines_, std::move(found).error().message);
      }
    }
  }

  base::result<bool> end() const {
    if (given_ > 0) return false;
    if (malformed_.count == 0) return std::unexpected(base::error{"it holds no request"});
    return std::unexpected(base::error{
        fmt::format("none of its lines is one of format {}: {}", format_, describe(malformed_))});
  }

  buffered_bytes bytes_;
  layout expected_;
  std::string_view format_;
  malformed_lines malformed_;
  row row_;
  std::uint64_t left_ = 0;   ///< requests of row_ that were not given yet
  std::uint64_t given_ = 0;  ///< requests
  std::uint64_t lines_;      ///< read
  std::string key_;
};

}  // namespace

std::unique_ptr<source> make_text_source(buffered_bytes bytes, layout expected,
                                         std::string_view format, std::uint64_t first_line) {
  return std::make_unique<text_source>(std::move(bytes), std::move(expected), format, first_line);
}

}  // namespace isotherm::traces
