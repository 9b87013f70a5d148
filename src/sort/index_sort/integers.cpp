#include "sort/index_sort/integers.hpp"

#include <bit>
#include <cstring>
#include <vector>

#include "os/files/file.hpp"
#include "os/memory/buffer.hpp"
#include "os/thread_pool.hpp"
#include "sort/input/sort_entries.hpp"

namespace isotherm::sort {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Calls `work(first, piece)` for pieces of the records, with all threads: `first` is the number of
/// a piece's first record, `piece` a buffer for its bytes.
template <class Work>
void by_pieces(job& j, os::thread_pool& pool, unsigned threads, std::uint64_t records,
               std::uint64_t record, const Work& work) {
  const std::uint64_t step = kThreadScratchBytes / record;
  pool.run(threads, [&](unsigned t) {
    std::vector<std::byte> bytes(step * record);
    const auto [begin, end] = os::part_of(records, threads, t);
    for (std::uint64_t at = begin; at < end && !j.stopped(); at += step) {
      work(at, std::span(bytes).first(std::min(step, end - at) * record));
    }
  });
}

}  // namespace

void sort_integers(const context& ctx, const os::file& out, outcome& o) {
  const std::uint64_t record = ctx.layout.record_bytes();
  const std::uint64_t records = ctx.input.size() / record;
  const std::uint64_t turned = ctx.layout.entries().reverse ? ~std::uint64_t{0} : 0;
  auto memory = os::buffer::reserve(records * sizeof(std::uint64_t));
  if (!ctx.job.keep(memory)) return;
  const auto keys = memory->as<std::uint64_t>().first(records);
  {
    const stage_timer timer(ctx.job, sort_stage::run_read);
    by_pieces(ctx.job, ctx.job.readers, ctx.plan.read_threads, records, record,
              [&](auto first, auto bytes) {
                if (!ctx.job.keep(ctx.input.handle().read(bytes, first * record))) return;
                for (std::size_t i = 0; i < bytes.size() / record; ++i) {
                  std::uint64_t key = 0;
                  std::memcpy(&key, &bytes[i * record], record);
                  keys[first + i] = __builtin_bswap64(key) ^ turned;
                }
                ctx.job.count(sort_stage::run_read, bytes.size(), 0);
              });
  }
  if (ctx.job.stopped()) return;
  {
    const stage_timer timer(ctx.job, sort_stage::run_sort);
    sort_integers(keys, ctx.job.readers, ctx.plan.sort_threads);
  }
  const stage_timer timer(ctx.job, sort_stage::run_write);
  const unsigned writers = out.is_in_order() ? 1 : ctx.plan.write_threads;
  by_pieces(ctx.job, ctx.job.writers, writers, records, record,
            [&](auto first, auto bytes) {
              for (std::size_t i = 0; i < bytes.size() / record; ++i) {
                const std::uint64_t key = __builtin_bswap64(keys[first + i] ^ turned);
                std::memcpy(&bytes[i * record], &key, record);
              }
              if (ctx.job.keep(out.write(bytes, first * record)))
                ctx.job.count(sort_stage::run_write, 0, bytes.size());
            });
  o.records = o.records_written = records;
  o.bytes_written = ctx.input.size();
  o.algorithm = sort_algorithm::onepass;
}

}  // namespace isotherm::sort
