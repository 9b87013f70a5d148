#include "sort/checks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "device/io.hpp"

namespace isotherm::sort {
namespace {

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

}  // namespace

base::result<void> check_options(const sort_options& o, std::uint64_t bytes) {
  if (o.format != record_format::lines && o.key_bytes == 0) {
    return refused("the key must have at least one byte");
  }
  if (o.format == record_format::fixed) {
    if (o.record_bytes == 0) return refused("a record must have at least one byte");
    if (o.record_bytes > (1 << 20)) return refused("--record: at most 1 MiB; use --klv for more");
    if (o.key_offset > o.record_bytes || o.key_bytes > o.record_bytes - o.key_offset) {
      return refused(fmt::format("the key, bytes {} to {}, lies beyond the record of {} bytes",
                                 o.key_offset, o.key_offset + o.key_bytes, o.record_bytes));
    }
    if (bytes % o.record_bytes != 0) {
      return refused(
          fmt::format("the input has {} bytes, no multiple of the record of {}: it is "
                      "cut, or --record is wrong",
                      bytes, o.record_bytes));
    }
  }
  if (o.format == record_format::klv && o.key_bytes > (64 << 10)) {
    return refused("--key-size: at most 64 KiB with --klv");
  }
  const std::uint64_t positions = o.format == record_format::fixed ? bytes / o.record_bytes : bytes;
  if (positions >> 40 != 0) {
    return refused("the input is too large: at most 2^40 records, or bytes with --klv or --lines");
  }
  const bool baseline = o.algorithm != sort_algorithm::automatic &&
                        o.algorithm != sort_algorithm::onepass &&
                        o.algorithm != sort_algorithm::mergepass;
  if (baseline && (o.format != record_format::fixed || !o.writes_all())) {
    return refused(
        fmt::format("--algorithm {} sorts fixed records, all of them: without --klv, "
                    "--lines, --unique, --top and --count",
                    name(o.algorithm)));
  }
  if (o.unique && o.count) return refused("--unique and --count: choose one of them");
  return {};
}

base::result<void> check_files(const std::string& input, const std::string& output,
                               std::uint64_t bytes, const std::string& temporary_directory,
                               const plan& p, const sort_options& o) {
  auto in = device::identity(input);
  if (!in) return std::unexpected(in.error());
  if (::access(output.c_str(), F_OK) == 0) {
    auto out = device::identity(output);
    if (!out) return std::unexpected(out.error());
    if (*in == *out) {
      return refused(output + " is the input itself: name another file for the output");
    }
  }
  const std::string directory = device::directory_of(output);
  auto room = device::free_space(directory);
  if (!room) return std::unexpected(room.error());
  if (!o.unique && o.top == 0 && *room < bytes) {
    return refused(fmt::format("no space: the output needs {} bytes in {}, {} are free", bytes,
                               directory, *room));
  }
  const std::uint64_t records = o.format == record_format::fixed ? bytes / o.record_bytes : 0;
  std::uint64_t runs = 0;
  if (p.algorithm == sort_algorithm::ems) {
    runs = bytes;
  } else if (p.must_merge || (p.may_merge && records > p.index_entries)) {
    runs = records * 16;
  }
  auto temporary = device::free_space(temporary_directory);
  if (!temporary) return std::unexpected(temporary.error());
  auto same = device::identity(directory);
  auto there = device::identity(temporary_directory);
  if (!same) return std::unexpected(same.error());
  if (!there) return std::unexpected(there.error());
  const bool shared = same->first == there->first;
  if (*temporary < runs + (shared ? bytes : 0) && !o.unique && o.top == 0) {
    return refused(fmt::format("no space: temporary runs need {} bytes in {}, {} are free{}", runs,
                               temporary_directory, *temporary,
                               shared ? ", and the output goes there too" : ""));
  }
  return {};
}

}  // namespace isotherm::sort
