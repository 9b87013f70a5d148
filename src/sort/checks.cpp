#include "sort/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "os/files/file_system.hpp"
#include "os/files/paths.hpp"
#include "os/files/spool.hpp"
#include "sort/algorithms/registry.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kLeastCountText = 2;  // a digit and a tab

std::unexpected<base::error> refused(std::string message) {
  return std::unexpected(base::error{std::move(message), 0});
}

std::uint64_t output_bytes(std::uint64_t input, std::uint64_t records, const sort_options& o) {
  const std::uint64_t wanted = o.top == 0 ? records : std::min(records, o.top);
  if (o.count) {
    const bool text = o.format == record_format::lines;
    return text ? wanted * kLeastCountText + (records == 0 ? 0 : input / records * wanted)
                : wanted * (o.key_bytes + sizeof(std::uint64_t));
  }
  if (o.format == record_format::fixed) return wanted * o.record_bytes;
  return wanted == records ? input : input / std::max<std::uint64_t>(1, records) * wanted;
}

struct space_needed {
  std::string directory, temporary_directory;
  std::uint64_t output_bytes, run_bytes;
};

base::result<void> check_space(const space_needed& s) {
  if (auto r = os::check_writable(s.directory); !r) return r;
  auto room = os::free_space(s.directory);
  if (!room) return std::unexpected(room.error());
  if (*room < s.output_bytes) {
    return refused(
        fmt::format("no space: the output may need {} bytes in {}, {} are free: free "
                    "some, or write it elsewhere",
                    s.output_bytes, s.directory, *room));
  }
  if (s.run_bytes == 0) return {};
  if (auto r = os::check_writable(s.temporary_directory); !r) return r;
  auto temporary = os::free_space(s.temporary_directory);
  if (!temporary) return std::unexpected(temporary.error());
  auto same = os::identity(s.directory);
  auto there = os::identity(s.temporary_directory);
  if (!same) return std::unexpected(same.error());
  if (!there) return std::unexpected(there.error());
  const bool shared = same->device == there->device;
  if (*temporary < s.run_bytes + (shared ? s.output_bytes : 0)) {
    return refused(fmt::format(
        "no space: temporary runs need {} bytes in {}, {} are free{}: free some, or name another "
        "directory by --tmp",
        s.run_bytes, s.temporary_directory, *temporary,
        shared ? ", and the output goes there too" : ""));
  }
  return {};
}

/// Checks the sizes of records and keys against each other and the input.
base::result<void> check_format(const sort_options& o, std::uint64_t bytes) {
  const bool text = o.format == record_format::lines;
  if (!text && o.key_bytes == 0) return refused("the key must have at least one byte");
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
  return {};
}

/// Refuses options of another format, which would be ignored.
base::result<void> check_meant_for(const sort_options& o) {
  const sort_options usual;
  const bool text = o.format == record_format::lines;
  if (!text && o.field != usual.field) return refused("-k is for --lines only: leave it out");
  if (!text && o.separator != usual.separator) {
    return refused("-t is for --lines only: leave it out");
  }
  if (text && o.key_bytes != usual.key_bytes) {
    return refused("--key-size is not for --lines: leave it out, or name a field by -k");
  }
  if (o.format != record_format::fixed && o.key_offset != usual.key_offset) {
    return refused("--key-offset is for fixed records only: leave it out");
  }
  return {};
}

}  // namespace

base::result<void> check_options(const sort_options& o, std::uint64_t bytes) {
  if (auto r = check_format(o, bytes); !r) return r;
  if (auto r = check_meant_for(o); !r) return r;
  if (auto r = find(o.algorithm).check(o); !r) return r;
  if (o.unique && o.count) return refused("--unique and --count: choose one of them");
  return {};
}

base::result<void> check_files(const source& in, const std::string& output,
                               const std::string& temporary_directory, const plan& p,
                               const input_facts& facts, const sort_options& o) {
  auto input = os::identity(in.handle());
  if (!input) return std::unexpected(input.error());
  auto there = os::identity(output);
  if (there && *input == *there) {
    return refused(output + " is the input itself: name another file for the output");
  }
  if (!there && there.error().code != ENOENT) return std::unexpected(there.error());
  return check_space(
      {.directory = os::waiting_directory(output, temporary_directory),
       .temporary_directory = temporary_directory,
       .output_bytes = output_bytes(in.size(), facts.records, o),
       .run_bytes = find(p.algorithm).temporary_bytes(p, o, in.size(), facts.records)});
}

}  // namespace isotherm::sort
