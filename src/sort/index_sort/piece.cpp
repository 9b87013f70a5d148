#include "sort/index_sort/piece.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "sort/input/in_memory.hpp"
#include "sort/input/sort_entries.hpp"

namespace isotherm::sort {
namespace {

static_assert(std::endian::native == std::endian::little);

/// Records that are integers, sorted by a library's vectorised quicksort.
class integer_piece final : public piece {
 public:
  using piece::piece;

  bool reserve(std::uint64_t records) override {
    auto memory = os::buffer::reserve(records * sizeof(std::uint64_t));
    if (!ctx_.job.keep(memory)) return false;
    memory_ = std::move(*memory);
    integers_ = memory_.as<std::uint64_t>();
    return true;
  }

  void read(const os::file& from, std::uint64_t first, std::uint64_t at, std::uint64_t count,
            sort_stage stage) override {
    const stage_timer timer(ctx_.job, stage);
    by_shares(ctx_.job.readers, ctx_.plan.read_threads, count, [&](auto begin, auto bytes) {
      if (!ctx_.job.keep(from.read(bytes, (first + begin) * record_))) return;
      for (std::size_t i = 0; i < bytes.size() / record_; ++i) {
        std::uint64_t integer = 0;
        std::memcpy(&integer, &bytes[i * record_], record_);
        integers_[at + begin + i] = order_.ordered(__builtin_bswap64(integer)) ^ turned_;
      }
      ctx_.job.count(stage, bytes.size(), 0);
    });
  }

  void sort(std::uint64_t count, sort_stage stage) override {
    const stage_timer timer(ctx_.job, stage);
    sort_integers(integers_.first(count), ctx_.job.readers, ctx_.plan.sort_threads);
  }

  void write(const os::file& to, std::uint64_t first, std::uint64_t count,
             sort_stage stage) override {
    const stage_timer timer(ctx_.job, stage);
    by_shares(ctx_.job.writers, writers(to), count, [&](auto begin, auto bytes) {
      for (std::size_t i = 0; i < bytes.size() / record_; ++i) {
        const std::uint64_t integer =
            __builtin_bswap64(order_.bytes(integers_[begin + i] ^ turned_));
        std::memcpy(&bytes[i * record_], &integer, record_);
      }
      if (!ctx_.job.keep(to.write(bytes, (first + begin) * record_))) return;
      ctx_.job.count(stage, 0, bytes.size());
    });
  }

 private:
  // Turns the order round, for --reverse.
  const std::uint64_t turned_ = ctx_.layout.entries().reverse ? ~std::uint64_t{0} : 0;
  const number_order order_{ctx_.job.options.number.value_or(record_number{.big_endian = true})};
  os::buffer memory_;
  std::span<std::uint64_t> integers_;
};

/// Records of any size, sorted by entries that point to them and copied as they are written.
class record_piece final : public piece {
 public:
  using piece::piece;

  bool reserve(std::uint64_t records) override {
    auto index = os::buffer::reserve(records * sizeof(entry));
    auto memory = os::buffer::reserve(records * record_);
    if (!ctx_.job.keep(index) || !ctx_.job.keep(memory)) return false;
    index_ = std::move(*index);
    memory_ = std::move(*memory);
    return true;
  }

  void read(const os::file& from, std::uint64_t first, std::uint64_t at, std::uint64_t count,
            sort_stage stage) override {
    const stage_timer timer(ctx_.job, stage);
    const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record_);
    ctx_.job.readers.run(ctx_.plan.read_threads, [&](unsigned t) {
      const auto [begin, end] = os::part_of(count, ctx_.plan.read_threads, t);
      for (std::uint64_t i = begin; i < end && !ctx_.job.stopped(); i += step) {
        const std::uint64_t n = std::min(step, end - i);
        const std::span bytes(memory_.data() + (at + i) * record_, n * record_);
        if (!ctx_.job.keep(from.read(bytes, (first + i) * record_))) return;
        // The bytes are in the processor's cache: the keys cost least now.
        take_keys(ctx_.layout, all(), index_.as<entry>(), at + i, at + i + n);
        ctx_.job.count(stage, bytes.size(), 0);
      }
    });
  }

  void sort(std::uint64_t count, sort_stage stage) override {
    const stage_timer timer(ctx_.job, stage);
    const auto index = index_.as<entry>().first(count);
    sort_entries(index, ctx_.job.readers, ctx_.plan.sort_threads);
    tell_apart(ctx_.layout, all(), index);
  }

  void write(const os::file& to, std::uint64_t first, std::uint64_t count,
             sort_stage stage) override {
    const stage_timer timer(ctx_.job, stage);
    constexpr std::uint64_t kPrefetchAhead = 24;
    const auto index = index_.as<entry>().first(count);
    const auto place = [&](std::uint64_t i) {
      return memory_.data() + ctx_.layout.entries().pointer(index[i]) * record_;
    };
    by_shares(ctx_.job.writers, writers(to), count, [&](auto begin, auto bytes) {
      for (std::uint64_t i = 0; i < bytes.size() / record_; ++i) {
        if (begin + i + kPrefetchAhead < count) {
          const std::byte* const ahead = place(begin + i + kPrefetchAhead);
          __builtin_prefetch(ahead);
          __builtin_prefetch(ahead + record_ - 1);
        }
        std::memcpy(&bytes[i * record_], place(begin + i), record_);
      }
      if (!ctx_.job.keep(to.write(bytes, (first + begin) * record_))) return;
      ctx_.job.count(stage, 0, bytes.size());
    });
  }

 private:
  std::span<const std::byte> all() const noexcept { return {memory_.data(), memory_.size()}; }

  os::buffer memory_;
  os::buffer index_;
};

}  // namespace

void piece::by_shares(os::thread_pool& pool, unsigned threads, std::uint64_t records,
                      const share_work& work) {
  const std::uint64_t step = std::max<std::uint64_t>(1, kThreadScratchBytes / record_);
  pool.run(threads, [&](unsigned t) {
    const auto [begin, end] = os::part_of(records, threads, t);
    std::vector<std::byte> bytes(std::min(step, end - begin) * record_);
    for (std::uint64_t at = begin; at < end && !ctx_.job.stopped(); at += step) {
      work(at, std::span(bytes).first(std::min(step, end - at) * record_));
    }
  });
}

std::unique_ptr<piece> make_piece(const context& ctx) {
  if (ctx.layout.integers()) return std::make_unique<integer_piece>(ctx);
  return std::make_unique<record_piece>(ctx);
}

}  // namespace isotherm::sort
