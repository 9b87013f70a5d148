#include "store/reply.hpp"

#include <fmt/format.h>

namespace isotherm::store {

void reply::line(char type, std::string_view text) {
  if (output_.size() + text.size() + 3 > limit_) {
    overflowed_ = true;
    return;
  }
  output_.push_back(type);
  output_.append(text);
  output_.append("\r\n", 2);
}

void reply::error(std::string_view text) {
  std::string one_line(text);
  for (char& c : one_line) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  line('-', one_line);
}

void reply::bulk_integer(std::int64_t value) {
  char buffer[24];
  const char* end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  bulk({buffer, static_cast<std::size_t>(end - buffer)});
}

void reply::real(double value) {
  const std::string text = fmt::format("{}", value);
  if (protocol_ == 3)
    line(',', text);
  else
    bulk(text);
}

void reply::verbatim(std::string_view format, std::string_view content) {
  if (protocol_ != 3) return bulk(content);
  line('=', fmt::format("{}", format.size() + 1 + content.size()));
  line(format[0], std::string(format.substr(1)).append(":").append(content));
}

}  // namespace isotherm::store
