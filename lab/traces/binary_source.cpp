#include "lab/traces/binary_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace isotherm::traces {
namespace {

static_assert(std::endian::native == std::endian::little, "records are read as they are");

/// Little-endian and without gaps: time in seconds, object, its size, and the number of the next
/// request of the same object (-1 or the greatest: none).
struct oracle_record {
  std::uint32_t time = 0;
  std::uint64_t object = 0;
  std::uint32_t size = 0;
  std::int64_t next = 0;
};
constexpr std::size_t kOracleBytes = 24;
constexpr std::int64_t kMostRequests = std::int64_t{1} << 40;  // of a trace that is guessed

oracle_record decode_oracle(std::string_view record) noexcept {
  oracle_record made;
  std::memcpy(&made.time, record.data(), 4);
  std::memcpy(&made.object, record.data() + 4, 8);
  std::memcpy(&made.size, record.data() + 12, 4);
  std::memcpy(&made.next, record.data() + 16, 8);
  return made;
}

std::uint64_t decode_number(std::string_view record, const format& how) noexcept {
  std::uint64_t number = 0;
  std::memcpy(&number, record.data(), record.size());
  return how.is_big_endian ? std::byteswap(number) >> (64 - 8 * how.bytes) : number;
}

class binary_source final : public source {
 public:
  binary_source(buffered_bytes bytes, const traces::format& how)
      : bytes_(std::move(bytes)), how_(how) {}

  base::result<bool> next(request& to) override {
    const std::size_t size = is_oracle() ? kOracleBytes : how_.bytes;
    const auto record = bytes_.record(size);
    if (!record && given_ == 0) return std::unexpected(record.error());
    if (!record || (!record->empty() && record->size() < size)) {
      malformed_.add(given_ + 1, record
                                     ? fmt::format("it has {} bytes, not {}", record->size(), size)
                                     : record.error().message);
    }
    if (!record || record->size() < size) {
      if (given_ > 0) return false;
      return std::unexpected(base::error{"it holds no request"});
    }
    ++given_;
    to = {};
    std::uint64_t number = 0;
    if (is_oracle()) {
      const oracle_record made = decode_oracle(*record);
      number = made.object;
      to.time_us = std::uint64_t{made.time} * 1'000'000;
      to.value_size = std::min(made.size, kMostValueBytes);
      if (made.size > kMostValueBytes) {
        malformed_.add(given_, fmt::format("its size is {}, over 512 MiB", made.size));
      }
    } else {
      number = decode_number(*record, how_);
    }
    key_.clear();
    fmt::format_to(std::back_inserter(key_), "{}", number);
    to.key = key_;
    return true;
  }
  const malformed_lines& malformed() const noexcept override { return malformed_; }
  std::string_view format() const noexcept override { return how_.name; }
  bool has_times() const noexcept override { return is_oracle(); }

 private:
  bool is_oracle() const noexcept { return how_.kind == kind_of_format::oracle; }

  buffered_bytes bytes_;
  const traces::format& how_;
  malformed_lines malformed_;
  std::uint64_t given_ = 0;  ///< requests
  std::string key_;
};

}  // namespace

bool looks_like_oracle(std::string_view beginning) noexcept {
  if (beginning.size() < kOracleBytes) return false;
  std::uint32_t last = 0;
  for (std::int64_t i = 0; beginning.size() >= kOracleBytes; ++i) {
    const oracle_record made = decode_oracle(beginning);
    const bool is_last = made.next == -1 || made.next == std::numeric_limits<std::int64_t>::max();
    if (made.time < last || !(is_last || (made.next > i && made.next < kMostRequests)))
      return false;
    last = made.time;
    beginning.remove_prefix(kOracleBytes);
  }
  return true;
}

std::unique_ptr<source> make_binary_source(buffered_bytes bytes, const format& how) {
  return std::make_unique<binary_source>(std::move(bytes), how);
}

}  // namespace isotherm::traces
