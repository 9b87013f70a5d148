#include "sort/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

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

struct request {
  const sort_options& o;
  std::uint64_t bytes;  ///< of the input
  sort_options usual{};

  bool fixed() const noexcept { return o.format == record_format::fixed; }
  bool klv() const noexcept { return o.format == record_format::klv; }
  bool text() const noexcept { return o.format == record_format::lines; }
  std::uint64_t positions() const noexcept { return fixed() ? bytes / o.record_bytes : bytes; }
};

struct refusal {
  bool (*applies)(const request& r);  ///< may take for granted that no row before it applies
  std::string_view message;           ///< {record}, {begin}, {end} of the key, {bytes} of the input
};

/// Sizes of records and keys that do not fit each other or the input; then options that the format
/// would ignore.
constexpr refusal kRefusals[] = {
    {[](const request& r) { return !r.text() && r.o.key_bytes == 0; },
     "the key must have at least one byte"},
    {[](const request& r) { return r.fixed() && r.o.record_bytes == 0; },
     "a record must have at least one byte"},
    {[](const request& r) { return r.fixed() && r.o.record_bytes > (1 << 20); },
     "--record: at most 1 MiB; use --klv for more"},
    {[](const request& r) {
       return r.fixed() && (r.o.key_offset > r.o.record_bytes ||
                            r.o.key_bytes > r.o.record_bytes - r.o.key_offset);
     },
     "the key, bytes {begin} to {end}, lies beyond the record of {record} bytes"},
    {[](const request& r) { return r.fixed() && r.bytes % r.o.record_bytes != 0; },
     "the input has {bytes} bytes, no multiple of the record of {record}: it is cut, or --record "
     "is wrong"},
    {[](const request& r) { return r.klv() && r.o.key_bytes > (64 << 10); },
     "--key-size: at most 64 KiB with --klv"},
    {[](const request& r) { return r.positions() >> 40 != 0; },
     "the input is too large: at most 2^40 records, or bytes of lines or with --klv"},
    {[](const request& r) { return !r.text() && !r.o.keys.empty(); },
     "-k is for lines only, as are all flags of keys but -r: leave them out"},
    {[](const request& r) { return !r.text() && r.o.separator != r.usual.separator; },
     "-t is for lines only: leave it out"},
    {[](const request& r) { return !r.text() && r.o.line_end != r.usual.line_end; },
     "-z is for lines only: leave it out"},
    {[](const request& r) { return !r.text() && r.o.header_lines > 0; },
     "--header is for lines only: leave it out"},
    {[](const request& r) { return !r.text() && r.o.csv; },
     "--csv is for lines only: leave it out"},
    {[](const request& r) { return r.o.csv && r.o.line_end != r.usual.line_end; },
     "-z and --csv: rows of CSV end with their lines; leave -z out"},
    {[](const request& r) {
       const char between = r.o.separator.value_or(',');
       return r.o.csv && (between == '"' || between == '\n' || between == '\r');
     },
     "-t and --csv: a quote or an end of a line cannot stand between columns"},
    {[](const request& r) {
       return r.o.csv && std::ranges::any_of(r.o.keys, [](const sort_key& k) {
                return k.first_char != 1 || k.last_char != 0 ||
                       (k.last_field != 0 && k.last_field != k.first_field);
              });
     },
     "--csv: a key is one column, as -k 3n: name no characters and no second column"},
    {[](const request& r) {
       return (!r.o.csv || r.o.header_lines == 0) &&
              std::ranges::any_of(r.o.keys, [](const sort_key& k) { return !k.column.empty(); });
     },
     "a column has a name in the header of CSV only: give --csv and --header"},
    {[](const request& r) {
       return r.o.number && (!r.fixed() || r.o.key_bytes != r.o.number->bytes);
     },
     "a number is a key of fixed records, and its size is the key's"},
    {[](const request& r) {
       return std::ranges::any_of(r.o.keys, [](const sort_key& k) {
         return k.first_field == 0 || k.first_char == 0 || (k.last_char > 0 && k.last_field == 0);
       });
     },
     "fields and characters of keys are counted from 1"},
    {[](const request& r) { return r.text() && r.o.key_bytes != r.usual.key_bytes; },
     "--key-size is not for lines: name the records by --record or --klv, or a field by -k"},
    {[](const request& r) { return !r.fixed() && r.o.key_offset != r.usual.key_offset; },
     "--key-offset is for fixed records only: leave it out"},
};

/// Returns the most bytes that the output can take.
std::uint64_t output_bytes(const input_facts& in, const sort_options& o) {
  const std::uint64_t records = in.records;
  const std::uint64_t wanted = o.top == 0 ? records : std::min(records, o.top);
  if (o.count) {
    const bool text = o.format == record_format::lines;
    return text ? wanted * kLeastCountText + (records == 0 ? 0 : in.bytes / records * wanted)
                : wanted * (o.key_bytes + sizeof(std::uint64_t));
  }
  if (o.format == record_format::fixed) return wanted * o.record_bytes;
  return wanted == records ? in.bytes : in.bytes / std::max<std::uint64_t>(1, records) * wanted;
}

struct run_room {
  std::uint64_t free = 0;    ///< bytes, those for the output included
  std::uint64_t usable = 0;  ///< without those for the output, and those that may stay free where
                             ///< the next run does not fit
  bool shared = false;       ///< one of the directories with the output
};

/// Adds up the room of the directories for runs, by file systems: `written` bytes of the output go
/// to the one of `directory`. `run` is the size of a run, which lies in one of them.
base::result<run_room> find_run_room(const std::vector<run_directory>& runs,
                                     const std::string& directory, std::uint64_t written,
                                     std::uint64_t run) {
  const auto output = os::identity(directory);
  if (!output) return std::unexpected(output.error());
  run_room found;
  std::uint64_t most = 0;
  std::vector<std::uint64_t> seen;
  for (const run_directory& each : runs) {
    if (auto r = os::check_writable(each.path); !r) return std::unexpected(r.error());
    const auto free = os::free_space(each.path);
    if (!free) return std::unexpected(free.error());
    const auto there = os::identity(each.path);
    if (!there) return std::unexpected(there.error());
    if (std::ranges::find(seen, there->device) != seen.end()) continue;
    seen.push_back(there->device);
    const bool shared = there->device == output->device;
    const std::uint64_t here = *free - std::min(*free, shared ? written : 0);
    most = std::max(most, here);
    found.usable += &each == &runs.back() ? here : here - std::min(here, run);
    found.free += *free;
    found.shared |= shared;
  }
  found.usable = std::max(found.usable, most);
  return found;
}

std::string names_of(const std::vector<run_directory>& runs) {
  std::string names;
  for (const run_directory& each : runs) names += (names.empty() ? "" : ", ") + each.path;
  return names;
}

}  // namespace

base::result<void> check_options(const sort_options& o, std::uint64_t bytes) {
  const request asked{o, bytes};
  for (const refusal& each : kRefusals) {
    if (!each.applies(asked)) continue;
    return refused(fmt::format(fmt::runtime(each.message), fmt::arg("record", o.record_bytes),
                               fmt::arg("begin", o.key_offset),
                               fmt::arg("end", o.key_offset + o.key_bytes),
                               fmt::arg("bytes", bytes)));
  }
  if (auto r = find(o.algorithm).check(o); !r) return r;
  if (o.unique && o.count) return refused("--unique and --count: choose one of them");
  return {};
}

base::result<void> check_output(const places& at, const std::string& directory,
                                std::uint64_t bytes) {
  auto input = os::identity(at.input.handle());
  if (!input) return std::unexpected(input.error());
  auto there = os::identity(at.output);
  if (there && *input == *there && os::is_stream(at.output)) {
    return refused(
        "the output would be appended to the input while that is read: name the file "
        "by -o");
  }
  if (!there && there.error().code != ENOENT) return std::unexpected(there.error());
  if (auto r = os::check_writable(directory); !r) return r;
  auto room = os::free_space(directory);
  if (!room) return std::unexpected(room.error());
  if (*room >= bytes) return {};
  return refused(
      fmt::format("no space: the output may need {} bytes in {}, {} are free: free some, or write "
                  "it elsewhere",
                  bytes, directory, *room));
}

base::result<plan> plan_with_room(const plan& p, const facts& known, const places& at,
                                  const sort_options& o) {
  const input_facts& in = known.input;
  const std::uint64_t written = output_bytes(in, o);
  const std::string directory = os::waiting_directory(at.output, at.temporary_directory);
  if (auto r = check_output(at, directory, written); !r) return std::unexpected(r.error());
  plan wanted = p;
  consider_pieces(wanted, o, in.bytes / std::max<std::uint64_t>(1, in.records));
  const auto temporary_bytes = [&](const plan& each) {
    return find(each.algorithm).temporary_bytes(each, o, in.bytes, in.records);
  };
  if (temporary_bytes(wanted) == 0) return wanted;
  const std::uint64_t least = temporary_bytes(p);
  const std::uint64_t run = std::min(in.bytes, p.memory_bytes);
  auto room = find_run_room(p.runs, directory, written, run);
  if (!room && (room.error().code != 0 || least > 0)) return std::unexpected(room.error());
  const run_room found = room.value_or(run_room{});
  if (temporary_bytes(wanted) <= found.usable) return wanted;
  if (least <= found.usable) return p;
  return refused(fmt::format(
      "no space: temporary runs need {} bytes in {}, {} are free{}: free some, or name "
      "another directory by --tmp",
      least, names_of(p.runs), found.free, found.shared ? ", and the output goes there too" : ""));
}

}  // namespace isotherm::sort
