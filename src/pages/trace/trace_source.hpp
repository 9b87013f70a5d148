// Observes a program by a trace of its accesses, which another tool has written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "os/files/file.hpp"
#include "pages/source.hpp"
#include "pages/trace/trace_line.hpp"

namespace isotherm::pages {

class trace_source final : public source {
 public:
  /// Opens the trace; "-" is standard input. Reads until the first access, which tells the format.
  /// Errors: it cannot be read, or holds no access in its first 10,000 lines.
  static base::result<trace_source> open(const std::string& path, const std::stop_token& stop);

  const source_traits& traits() const override { return traits_; }
  /// Marks in area 0. The limit and requests take effect after a line.
  base::result<window> observe(const window_limit& limit, const requests& asked) override;
  const shadow& marks() const override { return marks_; }
  std::vector<std::string> remarks() const override;

 private:
  trace_source(os::file input, shadow marks) : input_(std::move(input)), marks_(std::move(marks)) {}
  base::result<void> find_format(const std::stop_token& stop);
  /// Returns the next line, without its end; nullopt at the end of the trace or after a stop. It
  /// stays valid until the next call.
  base::result<std::optional<std::string_view>> next_line(const std::stop_token& stop);
  base::result<bool> read_more(const std::stop_token& stop);
  void count_malformed() noexcept;

  os::file input_;
  shadow marks_;
  source_traits traits_;
  trace_format format_ = trace_format::lackey;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of the part of `buffer_` that is not read
  bool at_end_ = false;              // of the file
  std::uint64_t line_ = 0;           // number of the line that was read last, from 1
  trace_line first_use_;             // found by find_format(), not marked yet
  std::uint64_t malformed_ = 0;
  std::uint64_t first_malformed_ = 0;  // number of that line
};

}  // namespace isotherm::pages
