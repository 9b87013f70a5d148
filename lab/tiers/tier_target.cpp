#include "lab/tiers/tier_target.hpp"

#include <bit>
#include <cstring>
#include <numeric>
#include <string>

#include "lab/workload/touched.hpp"
#include "sync/scope.hpp"

namespace isotherm::lab {
namespace {

using workload::answer;

constexpr char kPadding = 'k';

/// Replaces the last eight bytes of `key`.
void put_number(std::string& key, std::uint64_t number) noexcept {
  const std::uint64_t ordered = std::byteswap(number);
  std::memcpy(key.data() + key.size() - sizeof ordered, &ordered, sizeof ordered);
}

class tier_session final : public workload::session {
 public:
  tier_session(index::any_index& index, const tier_record& format, std::uint64_t keys)
      : index_(index),
        keys_(keys),
        stride_(coprime_stride(keys)),
        key_(format.key_size, kPadding),
        value_(format.value_size, 'v') {}

  base::result<answer> read(std::uint64_t number) override {
    access inside;
    const auto value = index_.find(inside, key(number));
    if (!value) return answer::missing;
    return is_of(*value, number) ? answer::done : answer::corrupt;
  }
  base::result<answer> update(std::uint64_t number) override {
    return answer_of(index_.upsert(key(number), value(number)));
  }
  base::result<answer> insert(std::uint64_t number) override {
    return answer_of(index_.insert(key(number), value(number)));
  }
  base::result<answer> scan(std::uint64_t number, unsigned records,
                            workload::touched_keys&) override {
    access inside;
    index_.scan(inside, key(number),
                [&records](std::string_view, std::string_view) { return --records > 0; });
    return answer::done;
  }
  base::result<void> load(std::uint64_t first, std::uint64_t last) override {
    for (std::uint64_t number = first; number < last; ++number) {
      const auto spread =
          static_cast<std::uint64_t>(static_cast<unsigned __int128>(number) * stride_ % keys_);
      if (const auto how = insert(spread); !how) return std::unexpected(how.error());
    }
    return {};
  }

 private:
  /// Multiples of it, modulo `keys`, are all the numbers, and evenly spread.
  static std::uint64_t coprime_stride(std::uint64_t keys) noexcept {
    constexpr double kGoldenRatio = 0.6180339887498949;
    auto stride = static_cast<std::uint64_t>(kGoldenRatio * static_cast<double>(keys)) | 1;
    while (std::gcd(stride, keys) != 1) stride += 2;
    return stride;
  }
  static base::result<answer> answer_of(index::outcome how) {
    if (how != index::outcome::no_memory) return answer::done;
    return std::unexpected(base::error{"out of memory: load fewer keys (--keys)"});
  }
  std::string_view key(std::uint64_t number) noexcept {
    put_number(key_, number);
    return key_;
  }
  std::string_view value(std::uint64_t number) noexcept {
    std::memcpy(value_.data(), &number, sizeof number);
    return value_;
  }
  static bool is_of(std::string_view value, std::uint64_t number) noexcept {
    return value.size() >= sizeof number && std::memcmp(value.data(), &number, sizeof number) == 0;
  }

  index::any_index& index_;
  const std::uint64_t keys_, stride_;
  std::string key_, value_;
};

}  // namespace

std::string tier_key(std::uint64_t number, std::size_t bytes) {
  std::string key(bytes, kPadding);
  put_number(key, number);
  return key;
}

base::result<std::unique_ptr<workload::session>> tier_target::connect() {
  return std::make_unique<tier_session>(index_, format_, keys_);
}

}  // namespace isotherm::lab
