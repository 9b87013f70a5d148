#include "lab/replay/index_store.hpp"

#include "heap/cold/statistics.hpp"
#include "lab/bench/index_target.hpp"
#include "lab/replay/values.hpp"
#include "lab/workload/record.hpp"

namespace isotherm::replay {
namespace {

class index_session final : public session {
 public:
  explicit index_session(index::any_index& index) : index_(index) {}

  base::result<answer> get(const item& of) override {
    return index_.get(of.key,
                      [&](std::string_view value) { return values_.take(value, of.number); });
  }
  base::result<answer> set(const item& of, std::uint32_t bytes, std::uint64_t) override {
    return index_.set(of.key, values_.make(of.number, bytes));
  }
  base::result<answer> remove(const item& of) override { return index_.remove(of.key); }
  base::result<answer> incr(const item& of) override { return index_.incr(of.key); }

  base::result<answer> seek(const item& from, std::uint32_t records,
                            workload::touched_keys& used) override {
    answer how = answer::done;
    if (records == 0) return how;
    index_.scan(from.key, [&](std::string_view, std::string_view value) {
      const auto number = workload::number_of(value);
      if (number) used.mark(*number);
      if (!values_.take(value, number.value_or(0))) how = answer::corrupt;
      return --records > 0;
    });
    return how;
  }

  std::uint64_t objects_read() const noexcept override { return heap::thread_waited_misses(); }

 private:
  lab::index_commands index_;
  values values_;
};

class index_store final : public store {
 public:
  explicit index_store(index::any_index& index) : index_(index) {}

  base::result<std::unique_ptr<session>> connect() override {
    return std::make_unique<index_session>(index_);
  }
  bool can_seek() const noexcept override { return index_.is_ordered(); }
  bool can_expire() const noexcept override { return false; }
  workload::target::place runs_in() const noexcept override {
    return workload::target::place::caller;
  }

 private:
  index::any_index& index_;
};

}  // namespace

std::unique_ptr<store> over_index(index::any_index& index) {
  return std::make_unique<index_store>(index);
}

}  // namespace isotherm::replay
