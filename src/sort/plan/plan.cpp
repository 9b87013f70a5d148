#include "sort/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/page.hpp"
#include "os/memory/available_memory.hpp"

namespace isotherm::sort {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
/// Resident bytes of the program itself, its libraries, stacks and the C library's arenas; checked
/// by the tests that measure the peak.
constexpr std::uint64_t kProgramBytes = 14 * kMiB;
/// Resident bytes of a thread's stack, and of what the C library keeps for it.
constexpr std::uint64_t kStackAndArena = 64 << 10;
/// For each record of the queue: its entry and, where records vary in size, its place in the
/// buffer.
constexpr std::uint64_t kBytesOfQueued = 48;

void choose_threads(plan& p, const sort_options& o, const facts& known) {
  const device::model* const device = known.device;
  p.sort_threads = o.sort_threads != 0 ? o.sort_threads : known.processors;
  p.read_threads = p.strided_threads = p.random_threads = p.write_threads = known.processors;
  if (device != nullptr && o.concurrency != sort_concurrency::no_sync) {
    p.read_threads = device::best_streams(device->sequential_read);
    p.random_threads = p.strided_threads = device::best_streams(device->random_read);
    p.write_threads = device::best_streams(device->write);
  } else if (device != nullptr && o.concurrency == sort_concurrency::no_sync) {
    // The same threads read and write in a no-sync sort: all pools are as large as the largest.
    const unsigned all =
        std::max({device::best_streams(device->sequential_read),
                  device::best_streams(device->random_read), device::best_streams(device->write)});
    p.read_threads = p.random_threads = p.strided_threads = p.write_threads = all;
  }
  if (o.read_threads != 0) p.read_threads = p.random_threads = p.strided_threads = o.read_threads;
  if (o.write_threads != 0) p.write_threads = o.write_threads;
  if (p.way.one_thread) {
    p.read_threads = p.random_threads = p.strided_threads = p.write_threads = p.sort_threads = 1;
  }
}

/// Takes over the directories for runs, with the threads that each device wants, and says what may
/// go on beside what.
void place_runs(plan& p, const sort_options& o, const facts& known) {
  p.runs.assign(known.directories.begin(), known.directories.end());
  for (run_directory& d : p.runs) {
    const bool own = d.apart && d.numbers != nullptr && !p.way.one_thread;
    d.use.read_threads = own && o.read_threads == 0
                             ? device::best_streams(d.numbers->sequential_read)
                             : p.read_threads;
    d.use.write_threads =
        own && o.write_threads == 0 ? device::best_streams(d.numbers->write) : p.write_threads;
  }
  p.runs_apart = !p.runs.empty() && std::ranges::all_of(p.runs, &run_directory::apart);
}

/// The user's choice. Without one, no_io_overlap where reads and writes hinder each other, and
/// elsewhere no_sync, which keeps the gathered records in the processor's cache.
sort_concurrency choose_concurrency(const sort_options& o, const device::model* device) {
  if (o.concurrency != sort_concurrency::automatic) return o.concurrency;
  const bool hinders = device != nullptr && device->interference > 0;
  return hinders ? sort_concurrency::no_io_overlap : sort_concurrency::no_sync;
}

/// Whether sequential reads of whole records are faster than strided reads of the keys alone.
bool scan_loads(const plan& p, const sort_options& o, const device::model& device) {
  using enum device::access;
  return static_cast<double>(o.record_bytes) /
             device.bandwidth(sequential_read, p.read_threads, 1 << 20) <
         static_cast<double>(o.key_bytes) /
             device.bandwidth(strided_read, p.strided_threads, o.key_bytes, 0, o.record_bytes);
}

/// Whether reading all of the input is cheaper than `records` random reads.
bool scan_pays(const plan& p, const sort_options& o, const facts& known, std::uint64_t records) {
  using enum device::access;
  const std::uint64_t input_bytes = known.input.bytes;
  if (const device::model* const device = known.emulated()) {
    return static_cast<double>(input_bytes) /
               device->bandwidth(sequential_read, p.read_threads, 1 << 20) <
           static_cast<double>(records * o.record_bytes) /
               device->bandwidth(random_read, p.random_threads, o.record_bytes);
  }
  // A read by call moves a whole page, however few bytes it asks for.
  return !p.map_input && input_bytes < records * base::kPageBytes;
}

/// Plans to gather values by scans of the input, each for as many records as the memory can hold,
/// if that is cheaper than a random read of each record. `room` is the memory, in bytes, for index
/// map or merge, and for the output.
void consider_scans(plan& p, const sort_options& o, const facts& known, std::uint64_t room) {
  const std::uint64_t records = known.input.bytes / o.record_bytes;
  const std::uint64_t buffers = p.concurrency == sort_concurrency::io_overlap ? 2 : 1;
  const bool merges = p.way.must_merge || records > p.index_entries;
  const std::uint64_t merge = merges ? std::min(room / 4, 64 * kMiB) : 0;
  const std::uint64_t queue = merges ? sizeof(entry) : 0;
  const std::uint64_t held = merges ? merge : records * sizeof(entry);
  if (room <= held) return;
  const std::uint64_t batch = std::min({records, (room - held) / (buffers * o.record_bytes + queue),
                                        std::uint64_t{std::numeric_limits<std::uint32_t>::max()}});
  if (batch == 0 || !scan_pays(p, o, known, batch)) return;
  p.scan_gather = true;
  p.output_buffer_bytes = batch * o.record_bytes;
  p.queue_entries = batch;
  if (merges) p.merge_buffer_bytes = merge;
}

/// Memory of each thread of a plan: a piece of the input (at least two records and a key), the
/// records that it copies, and what the C library keeps for it.
std::uint64_t bytes_of_thread(const plan& p, const sort_options& o, std::uint64_t input_bytes) {
  std::uint64_t piece = kThreadScratchBytes;
  if (o.format == record_format::fixed) piece = std::max(piece, 3 * o.record_bytes);
  piece += std::min(input_bytes, p.way.copied_records * (o.record_bytes + sizeof(entry)));
  return piece + kStackAndArena;
}

unsigned most_threads(const plan& p) {
  unsigned most = std::max({p.read_threads, p.random_threads, p.write_threads, p.sort_threads});
  for (const run_directory& d : p.runs) {
    most = std::max({most, d.use.read_threads, d.use.write_threads});
  }
  return most;
}

/// Lowers the numbers of threads that the user left open until all threads fit in `room` bytes.
void lower_threads(plan& p, const sort_options& o, std::uint64_t each, std::uint64_t room) {
  const auto most =
      static_cast<unsigned>(std::clamp<std::uint64_t>(room / each, 1, most_threads(p)));
  if (o.read_threads == 0) {
    p.read_threads = std::min(p.read_threads, most);
    p.strided_threads = std::min(p.strided_threads, most);
    p.random_threads = std::min(p.random_threads, most);
  }
  if (o.write_threads == 0) p.write_threads = std::min(p.write_threads, most);
  for (run_directory& d : p.runs) {
    if (o.read_threads == 0) d.use.read_threads = std::min(d.use.read_threads, most);
    if (o.write_threads == 0) d.use.write_threads = std::min(d.use.write_threads, most);
  }
  if (o.sort_threads == 0) p.sort_threads = std::min(p.sort_threads, most);
}

/// The most records that an input may have.
std::uint64_t most_records(const sort_options& o, std::uint64_t input_bytes) {
  constexpr std::uint64_t kLengthField = 4;  // klv
  if (o.format == record_format::fixed) return input_bytes / o.record_bytes;
  if (o.format == record_format::klv) return input_bytes / (o.key_bytes + kLengthField);
  return input_bytes;  // empty lines
}

/// Address space used beyond the limit: stacks, what the allocator reserves for each thread, and
/// the mapping of an output that is sorted in place. An allocator that cannot reserve it for a new
/// thread ends the process, so that a limit (ulimit -v) must leave room for all of it.
std::uint64_t address_space_beside(const plan& p, std::uint64_t input_bytes) {
  constexpr std::uint64_t kAllocator = 8 * kMiB;
  const std::uint64_t threads = most_threads(p) - 1 + p.write_threads - 1 +
                                (p.concurrency == sort_concurrency::io_overlap ? 1 : 0);
  return threads * (os::thread_stack_bytes() + kAllocator) + (p.way.in_place ? input_bytes : 0);
}

/// Sets the plan's memory limit. Returns the bytes of it that the program and its threads leave.
base::result<std::uint64_t> share_out(plan& p, const sort_options& o, const facts& known) {
  const bool named = o.memory_bytes != 0;
  p.memory_bytes = named ? o.memory_bytes : known.available_bytes / 2;
  if (const auto room = known.address_space_bytes; room && !named) {
    const std::uint64_t beside = address_space_beside(p, known.input.bytes);
    p.memory_bytes = std::min(p.memory_bytes, *room - std::min(*room, beside));
  }
  const std::string limit =
      named ? fmt::format("--memory {}", p.memory_bytes)
            : fmt::format("half of the available memory, {} bytes,", p.memory_bytes);
  if (p.memory_bytes < kSmallestLimit) {
    return std::unexpected(base::error{
        fmt::format("{} is too little: {} at least {} MiB", limit,
                    named ? "give" : "free some, or name by --memory", kSmallestLimit / kMiB),
        0});
  }
  const std::uint64_t each = bytes_of_thread(p, o, known.input.bytes);
  const std::uint64_t room = p.memory_bytes - kProgramBytes - kSmallestLimit / 4;
  lower_threads(p, o, each, room);
  const unsigned threads = most_threads(p);
  if (threads * each > room) {
    return std::unexpected(base::error{
        fmt::format("{} is too little for {} threads: give more, or lower --read-threads, "
                    "--write-threads or --sort-threads",
                    limit, threads),
        0});
  }
  return p.memory_bytes - kProgramBytes - threads * each;
}

/// Returns how many threads can each keep, in `room` bytes together, the first records of --top; 0
/// if not one can, or if sorting costs less: where reads by call of keys alone skip most of the
/// input, or most records are wanted.
unsigned selection_threads(const plan& p, const sort_options& o, const facts& known,
                           std::uint64_t room) {
  constexpr std::uint64_t kMostOfInput = 16;  // one record in so many
  constexpr double kLarger = 1.5;             // the records wanted may be larger than the mean
  const input_facts& in = known.input;
  const bool long_records =
      o.format != record_format::lines && in.record_bytes >= static_cast<double>(base::kPageBytes);
  if (o.top == 0 || o.top > in.records / kMostOfInput || long_records || known.emulated() ||
      p.way.freedom != liberty::full) {
    return 0;
  }
  const std::uint64_t each =
      kCandidateBytes + static_cast<std::uint64_t>(kLarger * in.record_bytes);
  return static_cast<unsigned>(
      std::min<std::uint64_t>(p.read_threads, room / (selection_candidates(o.top) * each)));
}

/// The speeds of the emulated device that takes runs first; zeros if it is not emulated. `main`, of
/// input and output, takes them where no directory is known.
run_speeds run_speeds_of(const plan& p, const device::model* main) {
  using enum device::access;
  const device_use use = p.runs.empty() ? main_use(p, nullptr) : p.runs.front().use;
  const device::model* const m = p.runs.empty() ? main : p.runs.front().numbers;
  if (m == nullptr || !m->emulated()) return {};
  return {.write = m->bandwidth(write, use.write_threads, 1 << 20),
          .read = m->bandwidth(sequential_read, use.read_threads, 1 << 20)};
}

base::result<plan> plan_within_limit(const sort_options& o, const approach& way,
                                     const facts& known) {
  const std::uint64_t input_bytes = known.input.bytes;
  plan p;
  p.way = way;
  p.concurrency = choose_concurrency(o, known.device);
  p.sequential_load = way.loads_records;
  p.scan_gather = way.scans;
  p.compression = o.compression;
  choose_threads(p, o, known);
  place_runs(p, o, known);
  auto shared = share_out(p, o, known);
  if (!shared) return std::unexpected(shared.error());
  const device::model* const priced = known.emulated();
  p.run_device = run_speeds_of(p, priced);
  std::uint64_t rest = *shared;
  p.room_bytes = rest;
  p.output_buffer_bytes = std::clamp<std::uint64_t>(rest / 8, kMiB, 64 * kMiB);
  const std::uint64_t buffers = p.concurrency == sort_concurrency::io_overlap ? 2 : 1;
  const std::uint64_t record = o.format == record_format::fixed ? o.record_bytes : 32;
  p.queue_entries = std::clamp<std::uint64_t>(
      p.output_buffer_bytes / std::max<std::uint64_t>(record, 1), 1, p.output_buffer_bytes / 32);
  rest -= buffers * p.output_buffer_bytes + kBytesOfQueued * p.queue_entries;
  if (record_layout(o).integers()) consider_parts(p, o, known);
  p.map_input = p.part_records == 0 && input_bytes > 0 && rest > input_bytes + input_bytes / 4 &&
                rest - input_bytes >= kSmallestLimit;
  if (p.map_input) rest -= input_bytes + input_bytes / 256;
  p.index_entries = std::min<std::uint64_t>(rest / sizeof(entry), most_records(o, input_bytes) + 1);
  // On a real device a read by call moves whole pages, so that the records are read with their
  // keys; an emulated device can read keys alone.
  const bool real = !o.emulates();
  if (o.format == record_format::fixed && real && !p.map_input &&
      o.record_bytes < base::kPageBytes) {
    p.sequential_load = true;
  }
  p.merge_buffer_bytes = rest;
  p.selection_threads = selection_threads(p, o, known, rest);
  const bool adapts =
      way.freedom != liberty::none && o.format == record_format::fixed && input_bytes > 0;
  if (!adapts) return p;
  if (priced != nullptr && scan_loads(p, o, *priced)) p.sequential_load = true;
  if (o.writes_all() && !record_layout(o).keys_alone() &&
      (priced == nullptr || way.freedom == liberty::full)) {
    const std::uint64_t mapped = p.map_input ? input_bytes + input_bytes / 256 : 0;
    consider_scans(p, o, known, p.room_bytes - mapped);
  }
  return p;
}

/// The least memory limit, in bytes and a multiple of a MiB, with which the input is mapped.
std::uint64_t limit_to_map(sort_options o, const approach& way, const facts& known) {
  const auto maps = [&](std::uint64_t mib) {
    o.memory_bytes = mib * kMiB;
    const auto p = plan_within_limit(o, way, known);
    return p && p->map_input;
  };
  std::uint64_t least = kSmallestLimit / kMiB;
  std::uint64_t enough = least;
  while (!maps(enough)) enough *= 2;
  while (least < enough) {
    const std::uint64_t middle = (least + enough) / 2;
    maps(middle) ? enough = middle : least = middle + 1;
  }
  return enough * kMiB;
}

}  // namespace

base::result<plan> make_plan(const sort_options& o, const approach& way, const facts& known) {
  auto p = plan_within_limit(o, way, known);
  if (!p) return p;
  const auto room = known.address_space_bytes;
  const std::uint64_t beside = address_space_beside(*p, known.input.bytes);
  if (room && (*room < beside || *room - beside < p->memory_bytes)) {
    return std::unexpected(base::error{
        fmt::format("--memory {} does not fit in the address space: of {} bytes that ulimit -v "
                    "leaves threads take {}; raise it, or lower --memory or the numbers of threads",
                    p->memory_bytes, *room, beside),
        0});
  }
  if (way.in_place && !p->map_input && known.input.bytes > 0) {
    p->mapping_memory_bytes = limit_to_map(o, way, known);
  }
  return p;
}

device_use main_use(const plan& p, device::emulation* emulation) noexcept {
  return {.emulation = emulation, .read_threads = p.read_threads, .write_threads = p.write_threads};
}

bool consider_parts(plan& p, const sort_options& o, const facts& known) {
  constexpr std::uint64_t kSamplesShare = 8;  // of the room, one part in so many
  const bool integers = record_layout(o).integers();
  if (p.way.freedom != liberty::full || known.emulated() != nullptr || o.emulates_runs() ||
      !o.writes_all() || o.format != record_format::fixed || o.record_bytes >= base::kPageBytes ||
      (!integers && p.concurrency != sort_concurrency::no_sync)) {
    return false;
  }
  const std::uint64_t each = integers ? sizeof(std::uint64_t) : o.record_bytes + sizeof(entry);
  const std::uint64_t records = known.input.bytes / o.record_bytes;
  std::uint64_t fitting = p.room_bytes / each;
  if (records > fitting) {
    const std::uint64_t for_samples = p.room_bytes / kSamplesShare;
    fitting = (p.room_bytes - for_samples) / each;
    const std::uint64_t runs = records / fitting + 1;
    const std::uint64_t samples = samples_of_run(runs);
    if (samples > fitting || runs * samples * (kSampleBytes + o.key_bytes) > for_samples) {
      return false;
    }
  }
  p.part_records = fitting;
  p.map_input = p.scan_gather = false;
  return true;
}

bool consider_pieces(plan& p, const sort_options& o, std::uint64_t record_bytes) {
  const bool fixed = o.format == record_format::fixed;
  if (p.map_input || o.emulates() || o.emulates_runs() || !p.way.may_merge ||
      p.way.freedom != liberty::full || o.compression == sort_compression::on ||
      (fixed && (o.writes_all() || record_bytes >= base::kPageBytes))) {
    return false;
  }
  // Nothing is gathered in the order of a queue.
  const std::uint64_t buffers = p.concurrency == sort_concurrency::io_overlap ? 2 : 1;
  std::uint64_t room =
      p.merge_buffer_bytes + buffers * p.output_buffer_bytes + kBytesOfQueued * p.queue_entries;
  p.output_buffer_bytes = std::min<std::uint64_t>(p.output_buffer_bytes, 2 * kMiB);
  p.queue_entries = std::min<std::uint64_t>(p.queue_entries, p.output_buffer_bytes / 32);
  room -= 2 * p.output_buffer_bytes + kBytesOfQueued * p.queue_entries;
  p.merge_buffer_bytes = room;
  // The first lines, which tell the mean, may be the longest: an eighth is for entries at the
  // least.
  if (!fixed) record_bytes = std::min(record_bytes, 7 * sizeof(entry));
  p.index_entries =
      std::min<std::uint64_t>(p.index_entries, room / (record_bytes + sizeof(entry)) + 1);
  p.piece_bytes = room - p.index_entries * sizeof(entry);
  if (fixed) p.piece_bytes = p.piece_bytes / o.record_bytes * o.record_bytes;
  return true;
}

}  // namespace isotherm::sort
