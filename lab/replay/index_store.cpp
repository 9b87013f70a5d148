#include "lab/replay/index_store.hpp"

#include <optional>
#include <string>

#include "base/numbers.hpp"
#include "heap/cold/statistics.hpp"
#include "heap/upkeep.hpp"
#include "lab/replay/values.hpp"
#include "lab/workload/record.hpp"

namespace isotherm::replay {
namespace {

class index_session final : public session {
 public:
  explicit index_session(index::any_index& index) : index_(index) {}

  base::result<answer> get(const item& of) override {
    heap::wait_for_room();  // what comes back takes some
    access inside = access_to_read();
    const auto value = index_.find(inside, of.key);
    if (!value) return answer::missing;
    return values_.take(*value, of.number) ? answer::done : answer::corrupt;
  }

  base::result<answer> set(const item& of, std::uint32_t bytes, std::uint64_t) override {
    heap::wait_for_room();
    return answer_of(index_.upsert(of.key, values_.make(of.number, bytes)));
  }

  base::result<answer> remove(const item& of) override {
    return index_.erase(of.key) ? answer::done : answer::missing;
  }

  base::result<answer> incr(const item& of) override {
    heap::wait_for_room();
    const auto how = index_.update(of.key, [this](std::optional<std::string_view> current) {
      std::int64_t count = 0;
      if (current) {
        const auto number = base::parse_number<std::int64_t>(*current);
        if (!number) return index::decision{};
        count = *number;
      }
      counter_ = std::to_string(static_cast<std::int64_t>(static_cast<std::uint64_t>(count) + 1));
      return index::decision{index::action::write, counter_};
    });
    return how == index::outcome::unchanged ? answer::missing : answer_of(how);
  }

  base::result<answer> seek(const item& from, std::uint32_t records,
                            workload::touched_keys& used) override {
    heap::wait_for_room();
    answer how = answer::done;
    if (records == 0) return how;
    access inside = access_to_read();
    index_.scan(inside, from.key, [&](std::string_view, std::string_view value) {
      const auto number = workload::number_of(value);
      if (number) used.mark(*number);
      if (!values_.take(value, number.value_or(0))) how = answer::corrupt;
      return --records > 0;
    });
    return how;
  }

  std::uint64_t objects_read() const noexcept override { return heap::thread_waited_misses(); }

 private:
  /// Waits for objects that are out, and leaves in COLD those that are not worth DRAM.
  static access access_to_read() noexcept {
    return access(access::when_cold::wait, nullptr, access::copies::allowed);
  }
  static base::result<answer> answer_of(index::outcome how) {
    if (how == index::outcome::done) return answer::done;
    return std::unexpected(
        base::error{"out of memory: the heap's range or the disk of --cold-backing is full"});
  }

  index::any_index& index_;
  values values_;
  std::string counter_;
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
