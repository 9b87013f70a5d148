#include "lab/traces/buffered_bytes.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace isotherm::traces {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{64} << 10;

}  // namespace

base::result<bool> buffered_bytes::more() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
  }
  if (buffer_.size() < end_ + kPieceBytes) buffer_.resize(end_ + kPieceBytes);
  const auto read = bytes_.read(std::span(buffer_).subspan(end_));
  if (!read) return std::unexpected(read.error());
  end_ += *read;
  return *read > 0;
}

base::result<std::string_view> buffered_bytes::beginning() {
  while (end_ - begin_ < kPieceBytes) {
    const auto read = more();
    if (!read && end_ == begin_) return std::unexpected(read.error());
    if (!read || !*read) break;
  }
  return std::string_view(buffer_).substr(begin_, std::min(end_ - begin_, kPieceBytes));
}

base::result<std::optional<text_line>> buffered_bytes::line() {
  text_line found;
  for (std::size_t searched = 0;;) {
    const std::string_view all = std::string_view(buffer_).substr(begin_, end_ - begin_);
    const auto feed = all.find('\n', searched);
    if (feed != std::string_view::npos) {
      begin_ += feed + 1;
      found.text = all.substr(0, feed);
      break;
    }
    searched = all.size();
    if (searched > kLongestLine) {
      found.is_too_long = true;
      begin_ = end_;
      searched = 0;
    }
    const auto read = more();
    if (!read) return std::unexpected(read.error());
    if (*read) continue;
    if (end_ == begin_ && !found.is_too_long) return std::nullopt;
    found.text = std::string_view(buffer_).substr(begin_, end_ - begin_);
    begin_ = end_;
    break;
  }
  if (found.is_too_long) found.text = {};
  if (found.text.ends_with('\r')) found.text.remove_suffix(1);
  return found;
}

base::result<std::string_view> buffered_bytes::record(std::size_t bytes) {
  while (end_ - begin_ < bytes) {
    const auto read = more();
    if (!read) return std::unexpected(read.error());
    if (!*read) break;
  }
  const auto part = std::string_view(buffer_).substr(begin_, std::min(bytes, end_ - begin_));
  begin_ += part.size();
  return part;
}

}  // namespace isotherm::traces
