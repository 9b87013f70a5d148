#include "lab/records/gensort.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <vector>

#include "base/random.hpp"
#include "os/files/file.hpp"
#include "os/files/file_system.hpp"
#include "os/files/paths.hpp"
#include "os/files/pending_file.hpp"
#include "os/files/spool.hpp"
#include "os/thread_pool.hpp"

namespace isotherm::lab {
namespace {

constexpr uint128 wide(std::uint64_t high, std::uint64_t low) {
  return (uint128{high} << 64) | low;
}

/// x' = multiplier * x + increment (mod 2^128).
struct affine {
  uint128 multiplier;
  uint128 increment;
};

constexpr affine kStep{wide(0x2360ed051fc65da4u, 0x4385df649fccf645u),
                       wide(0x4a696d4772617952u, 0x4950202020202001u)};

/// First `f`, then `g`.
constexpr affine compose(affine f, affine g) {
  return {g.multiplier * f.multiplier, g.multiplier * f.increment + g.increment};
}

constexpr uint128 next(uint128 x) { return kStep.multiplier * x + kStep.increment; }

/// The rank whose key a skewed record takes: log-uniform, so that rank r has weight about 1/r.
std::uint64_t skewed_rank(std::uint64_t n) {
  const std::uint64_t mixed = base::mix64(n);
  const unsigned bits = static_cast<unsigned>(mixed & 31);
  return (std::uint64_t{1} << bits) - 1 + ((mixed >> 5) & ((std::uint64_t{1} << bits) - 1));
}

void put_big_endian(std::byte* at, std::uint64_t value) {
  value = std::byteswap(value);
  std::memcpy(at, &value, 8);
}

constexpr char kHex[] = "0123456789ABCDEF";

/// The record's number as 32 digits.
void put_number(char* text, std::uint64_t n) {
  for (int i = 0; i < 32; ++i) text[i] = i < 16 ? '0' : kHex[(n >> (4 * (31 - i))) & 15];
}

/// The low `nibbles` of a random number, each as a digit that stands four times.
void put_filler(char* text, std::uint64_t random, int nibbles) {
  for (int at = nibbles - 1; at >= 0; --at, text += 4) {
    std::memset(text, kHex[(random >> (4 * at)) & 15], 4);
  }
}

/// Key, and between fixed bytes the number and 48 bytes of filler.
void binary_record(std::uint64_t n, uint128 random, uint128 body, std::byte* record) {
  static constexpr unsigned char kFirst[2] = {0x00, 0x11};
  static constexpr unsigned char kMiddle[4] = {0x88, 0x99, 0xaa, 0xbb};
  static constexpr unsigned char kLast[4] = {0xcc, 0xdd, 0xee, 0xff};
  put_big_endian(record, static_cast<std::uint64_t>(random >> 64));
  record[8] = static_cast<std::byte>(static_cast<unsigned char>(random >> 56));
  record[9] = static_cast<std::byte>(static_cast<unsigned char>(random >> 48));
  auto* text = reinterpret_cast<char*>(record);
  std::memcpy(text + 10, kFirst, 2);
  put_number(text + 12, n);
  std::memcpy(text + 44, kMiddle, 4);
  put_filler(text + 48, static_cast<std::uint64_t>(body), 12);
  std::memcpy(text + 96, kLast, 4);
}

void ascii_record(std::uint64_t n, uint128 random, uint128 body, std::byte* record) {
  auto* text = reinterpret_cast<char*>(record);
  auto high = static_cast<std::uint64_t>(random >> 64);
  auto low = static_cast<std::uint64_t>(random);
  for (int i = 0; i < 8; ++i, high /= 95) text[i] = static_cast<char>(' ' + high % 95);
  for (int i = 8; i < 10; ++i, low /= 95) text[i] = static_cast<char>(' ' + low % 95);
  text[10] = text[11] = ' ';
  put_number(text + 12, n);
  text[44] = text[45] = ' ';
  put_filler(text + 46, static_cast<std::uint64_t>(body), 13);
  text[98] = '\r';
  text[99] = '\n';
}

base::result<uint128> write_part(const os::file& f, const gensort_options& o, std::uint64_t begin,
                                 std::uint64_t end, tool::progress_sum& done) {
  std::vector<std::byte> buffer(std::min<std::uint64_t>(kBatchRecords, end - begin) *
                                kGensortRecord);
  uint128 sum = 0;
  uint128 random = gensort_random(o.first + begin);
  for (std::uint64_t at = begin; at < end;) {
    if (o.stop.stop_requested()) {
      return std::unexpected(base::error{"interrupted: nothing was written", EINTR});
    }
    const auto records = static_cast<std::size_t>(std::min<std::uint64_t>(kBatchRecords, end - at));
    for (std::size_t i = 0; i < records; ++i, random = next(random)) {
      gensort_record(
          o.first + at + i, random, o,
          std::span<std::byte, kGensortRecord>(&buffer[i * kGensortRecord], kGensortRecord));
    }
    const std::span<const std::byte> bytes(buffer.data(), records * kGensortRecord);
    if (auto r = f.write(bytes, at * kGensortRecord); !r) return std::unexpected(r.error());
    sum += sort::record_checksum(bytes, kGensortRecord);
    at += records;
    done.add(records);
  }
  return sum;
}

}  // namespace

uint128 gensort_random(std::uint64_t n) noexcept {
  affine jump{1, 0};
  affine power = kStep;
  for (uint128 steps = uint128{n} + 1; steps != 0; steps >>= 1) {
    if ((steps & 1) != 0) jump = compose(jump, power);
    power = compose(power, power);
  }
  return jump.increment;  // the state starts at 0
}

void gensort_record(std::uint64_t n, uint128 random, const gensort_options& set,
                    std::span<std::byte, kGensortRecord> record) noexcept {
  const uint128 key = set.skewed ? gensort_random(skewed_rank(n)) : random;
  if (set.ascii) {
    ascii_record(n, key, random, record.data());
  } else {
    binary_record(n, key, random, record.data());
  }
}

std::string checksum_text(uint128 sum) {
  const auto high = static_cast<std::uint64_t>(sum >> 64);
  const auto low = static_cast<std::uint64_t>(sum);
  return high == 0 ? fmt::format("{:x}", low) : fmt::format("{:x}{:016x}", high, low);
}

base::result<uint128> parse_checksum(const std::string& text) {
  uint128 sum = 0;
  const auto bad = [&] {
    return std::unexpected(base::error{"'" + text +
                                           "' is not a checksum: give 1 to 32 hexadecimal "
                                           "digits, as gensort -c prints them",
                                       0});
  };
  if (text.empty() || text.size() > 32) return bad();
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    if (!digit && (lower < 'a' || lower > 'f')) return bad();
    sum = (sum << 4) | static_cast<unsigned>(digit ? c - '0' : lower - 'a' + 10);
  }
  return sum;
}

unsigned threads_for(std::uint64_t records, unsigned asked) noexcept {
  const auto most = std::min<std::uint64_t>(kMostThreads, std::max<std::uint64_t>(1, records));
  return static_cast<unsigned>(std::clamp<std::uint64_t>(asked, 1, most));
}

base::result<uint128> gensort_file(const std::string& path, const gensort_options& options) {
  if (options.first + options.count < options.first) {
    return std::unexpected(base::error{
        fmt::format("{} records from number {} on are more than there are numbers (2^64): ask for "
                    "fewer, or begin earlier",
                    options.count, options.first),
        0});
  }
  auto room = os::free_space(os::waiting_directory(os::link_target(path)));
  if (!room) return std::unexpected(room.error());
  if (*room / kGensortRecord < options.count) {
    return std::unexpected(base::error{
        fmt::format("no space: {} records need {} bytes each, {} bytes are free: ask for fewer, or "
                    "name another place",
                    options.count, kGensortRecord, *room),
        0});
  }
  auto f = os::pending_file::create(path);
  if (!f) return std::unexpected(f.error());
  const unsigned threads = threads_for(options.count, options.threads);
  std::mutex lock;
  base::result<uint128> total = uint128{0};
  tool::progress_sum done(options.progress, options.count);
  os::run_pool(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(options.count, threads, t);
    auto part = write_part(f->handle(), options, begin, end, done);
    const std::lock_guard guard(lock);
    if (!part) {
      total = std::unexpected(part.error());
    } else if (total) {
      *total += *part;
    }
  });
  if (total) {
    if (auto r = f->publish(options.stop); !r) total = std::unexpected(r.error());
  }
  return total;
}

}  // namespace isotherm::lab
