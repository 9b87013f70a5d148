// Runs of records are sorted in memory and written, as by an external merge sort. They are not
// merged record by record: sorting is done by all threads and costs less. The order is cut into
// parts that fit in memory. The pieces of all runs that make up a part are read, sorted together
// and written. Samples of the runs tell where to cut.
#include "sort/index_sort/parts.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "sort/index_sort/piece.hpp"
#include "sort/runs/run_places.hpp"

namespace isotherm::sort {
namespace {

/// A record of a run. No two have the same place in this order, however many keys are equal; for
/// records with equal keys it is their order in the input.
struct sample {
  std::string key;  ///< as put_in_order() makes it
  std::uint64_t run = 0;
  std::uint64_t number = 0;  ///< of the record in the input's order of runs
  friend auto operator<=>(const sample&, const sample&) = default;
};
static_assert(sizeof(sample) <= kSampleBytes);

/// The place of a run.
struct stored_run {
  const os::file* file = nullptr;
  std::uint64_t first = 0;  ///< number of its first record in that file
};

class part_sorter {
 public:
  part_sorter(const context& ctx, const os::file& out)
      : ctx_(ctx),
        out_(out),
        records_(ctx.input.size() / ctx.layout.record_bytes()),
        fitting_(ctx.plan.part_records),
        piece_(make_piece(ctx)),
        places_(ctx) {}

  void run(outcome& o) {
    if (!piece_->reserve(std::min(fitting_, records_))) return;
    if (records_ <= fitting_) {
      sort_run(0, {&out_, 0});
    } else {
      sort_parts(o);
    }
  }

 private:
  std::uint64_t end_of(std::uint64_t run) const noexcept {
    return std::min(records_, (run + 1) * fitting_);
  }
  /// Number of record `number` of `run` in the file that holds it.
  std::uint64_t number_in_file(std::uint64_t run, std::uint64_t number) const noexcept {
    return stored_[run].first + number - run * fitting_;
  }
  sample sample_of(std::uint64_t run, std::uint64_t number);
  void sort_run(std::uint64_t run, const stored_run& to);
  bool store_run(std::uint64_t run);
  void sort_parts(outcome& o);
  std::uint64_t end_before(const sample& bound, std::uint64_t run, std::uint64_t begin);
  std::uint64_t write_part(std::vector<std::uint64_t>& at, const sample* bound,
                           std::uint64_t first);

  const context ctx_;
  const os::file& out_;
  const std::uint64_t records_;
  const std::uint64_t fitting_;  // records that fit in memory
  const std::unique_ptr<piece> piece_;
  run_places places_;
  std::vector<stored_run> stored_;
};

sample part_sorter::sample_of(std::uint64_t run, std::uint64_t number) {
  const record_layout& l = ctx_.layout;
  sample s{std::string(l.key_bytes(), '\0'), run, number};
  const auto key = std::as_writable_bytes(std::span(s.key));
  const std::uint64_t at = number_in_file(run, number) * l.record_bytes() + l.key_offset();
  ctx_.job.keep(stored_[run].file->read(key, at));
  l.put_in_order(key);
  return s;
}

/// Sorts as many records as fit in memory and writes them.
void part_sorter::sort_run(std::uint64_t run, const stored_run& to) {
  const std::uint64_t first = run * fitting_;
  const std::uint64_t n = end_of(run) - first;
  piece_->read(ctx_.input.handle(), first, 0, n, sort_stage::run_read);
  if (ctx_.job.stopped()) return;
  piece_->sort(n, sort_stage::run_sort);
  piece_->write(*to.file, to.first, n, sort_stage::run_write);
  ctx_.job.progress(sort_stage::run_write, first + n, records_);
}

/// Sorts a run into one of the plan's directories; false after an error.
bool part_sorter::store_run(std::uint64_t run) {
  const std::uint64_t record = ctx_.layout.record_bytes();
  const std::uint64_t bytes = (end_of(run) - run * fitting_) * record;
  run_place* const place = places_.take(bytes);
  if (place == nullptr) return false;
  stored_.push_back({&place->file, place->end / record});
  sort_run(run, stored_.back());
  place->end += bytes;
  place->written += bytes;
  return !ctx_.job.stopped();
}

/// Samples every run once in `step` records. Between two samples that are n places apart in their
/// order there are at most n + runs such steps of records: so many fit in memory.
void part_sorter::sort_parts(outcome& o) {
  o.runs.runs = (records_ + fitting_ - 1) / fitting_;
  const std::uint64_t step = fitting_ / samples_of_run(o.runs.runs);
  std::vector<sample> samples;
  std::vector<std::uint64_t> at;  // number of each run's next record
  for (std::uint64_t run = 0; run < o.runs.runs && store_run(run); ++run) {
    at.push_back(run * fitting_);
    for (std::uint64_t i = at.back(); i < end_of(run) && !ctx_.job.stopped(); i += step) {
      samples.push_back(sample_of(run, i));
    }
  }
  std::sort(samples.begin(), samples.end());
  const std::uint64_t part = fitting_ / step - o.runs.runs;
  std::uint64_t written = 0;
  for (std::size_t s = part; !ctx_.job.stopped() && written < records_; s += part) {
    written += write_part(at, s < samples.size() ? &samples[s] : nullptr, written);
    ctx_.job.progress(sort_stage::merge_write, written, records_);
  }
  o.places = places_.report();
}

/// Returns the number of the first record of `run`, from `begin` on, that is not before `bound`.
std::uint64_t part_sorter::end_before(const sample& bound, std::uint64_t run, std::uint64_t begin) {
  std::uint64_t end = end_of(run);
  while (begin < end && !ctx_.job.stopped()) {
    const std::uint64_t middle = begin + (end - begin) / 2;
    if (sample_of(run, middle) < bound) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// Writes the records of all runs, from `at` on, that come before `bound` (null: all that are
/// left), as the output's records from `first` on. Moves `at` behind them, and returns how many
/// they are.
std::uint64_t part_sorter::write_part(std::vector<std::uint64_t>& at, const sample* bound,
                                      std::uint64_t first) {
  std::uint64_t n = 0;
  for (std::uint64_t run = 0; run < at.size() && !ctx_.job.stopped(); ++run) {
    const std::uint64_t end = bound != nullptr ? end_before(*bound, run, at[run]) : end_of(run);
    if (ctx_.job.stopped()) break;
    piece_->read(*stored_[run].file, number_in_file(run, at[run]), n, end - at[run],
                 sort_stage::merge_read);
    n += end - at[run];
    at[run] = end;
  }
  if (ctx_.job.stopped()) return 0;
  piece_->sort(n, sort_stage::merge_other);
  piece_->write(out_, first, n, sort_stage::merge_write);
  return n;
}

}  // namespace

void sort_in_parts(const context& ctx, const os::file& out, outcome& o) {
  part_sorter(ctx, out).run(o);
  o.records = o.records_written = ctx.input.size() / ctx.layout.record_bytes();
  o.bytes_written = ctx.input.size();
  o.algorithm = sort_algorithm::onepass;
  if (o.runs.runs != 0) o.instead = "parts";
}

std::uint64_t bytes_of_parts(const plan& p, std::uint64_t input_bytes, std::uint64_t records) {
  return records > p.part_records ? input_bytes : 0;
}

}  // namespace isotherm::sort
