#include "lab/traces/writer.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <iterator>
#include <span>

namespace isotherm::traces {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

}  // namespace

base::result<writer> writer::create(const std::string& path) {
  if (path.ends_with(".xz")) {
    return std::unexpected(base::error{path + ": traces are not written as xz: use .zst or .gz"});
  }
  writer made;
  made.path_ = path;
  made.packing_ = sort::packing_of_name(path);
  if (path == "-") return made;
  auto file = os::pending_file::create(path);
  if (!file) return std::unexpected(std::move(file).error());
  made.file_ = std::move(*file);
  return made;
}

base::result<void> writer::add(const request& next) {
  fmt::format_to(std::back_inserter(text_), "{}.{:06},{},{},{},{},{},{}\n",
                 next.time_us / 1'000'000, next.time_us % 1'000'000, name_of(next.kind), next.key,
                 next.key_size, next.value_size, next.ttl_s, next.records);
  return text_.size() < kPieceBytes ? base::result<void>{} : flush();
}

base::result<void> writer::finish() {
  if (auto rest = flush(); !rest) return rest;
  return file_ ? file_->publish() : base::result<void>{};
}

base::result<void> writer::flush() {
  auto bytes = std::as_bytes(std::span(text_));
  if (packing_ != sort_packing::none && !bytes.empty()) {
    if (auto packed = sort::pack(packing_, bytes, frame_); !packed) return packed;
    bytes = frame_;
  }
  if (file_) {
    if (auto written = file_->handle().write(bytes, written_); !written) return written;
  } else if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) {
    return std::unexpected(base::system_error("cannot write to standard output", errno));
  }
  written_ += bytes.size();
  text_.clear();
  return {};
}

}  // namespace isotherm::traces
