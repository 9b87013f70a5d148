#include "heap/packed/backing.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/swap.hpp"

namespace isotherm::heap {
namespace {

class anonymous final : public backing {
 public:
  bool is_logged() const noexcept override { return false; }
  std::string place() const override { return "memory and swap"; }
  std::string why_pages_stay() const override {
    if (os::read_swap_space().total_bytes > 0) return {};
    return "anonymous COLD memory cannot leave DRAM without swap: add swap or zram, or back COLD "
           "by "
           "a file (file:DIR)";
  }
  void give_back(std::size_t offset, std::size_t bytes) const noexcept override {
    // A failure costs memory, never correctness: the bytes are not promised to be zero for objects.
    static_cast<void>(os::advise(begin() + offset, bytes, os::advice::discard));
  }
};

}  // namespace

std::unique_ptr<backing> make_anonymous_backing() { return std::make_unique<anonymous>(); }

constinit const backing_kind kAnonymousBacking{
    .name = "anon",
    .argument = {},
    .help = "swap",
    .describe =
        [](const std::string&) {
          return backing_description{
              .leaves_for = "swap", .room = "memory and swap", .directory = {}, .needs_swap = true};
        },
    .make = [](const std::string&) -> base::result<std::unique_ptr<backing>> {
      return make_anonymous_backing();
    }};

}  // namespace isotherm::heap
