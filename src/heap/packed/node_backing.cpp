#include <cerrno>
#include <utility>

#include "base/numbers.hpp"
#include "heap/packed/backing.hpp"
#include "os/memory/address_space.hpp"
#include "os/memory/numa.hpp"

namespace isotherm::heap {
namespace {

std::string name_of(const std::string& node) { return "memory node " + node; }

/// Anonymous memory of one memory node. Extents are filled with pages when they are taken, and a
/// node or a control group without room refuses them then: a touch would get a page of another
/// node, or with a policy that allows no other (MPOL_BIND), or at the group's limit, end the
/// process.
class node_memory final : public backing {
 public:
  explicit node_memory(unsigned node) noexcept : node_(node) {}

  bool is_logged() const noexcept override { return false; }
  bool is_direct() const noexcept override { return true; }
  std::string place() const override { return name_of(std::to_string(node_)); }
  base::result<void> map(std::byte* begin, std::size_t bytes) override {
    if (auto mapped = backing::map(begin, bytes); !mapped) return mapped;
    return os::prefer_node(begin, bytes, node_);
  }
  base::result<void> take(std::size_t offset, std::size_t bytes) override {
    if (auto granted = ask_control_groups(bytes); !granted) return granted;
    if (auto taken = backing::take(offset, bytes); !taken) return taken;
    return os::populate_on_node(begin() + offset, bytes, node_);
  }
  void give_back(std::size_t offset, std::size_t bytes) const noexcept override {
    // A failure costs memory, never correctness: the bytes are not promised to be zero for objects.
    static_cast<void>(os::advise(begin() + offset, bytes, os::advice::discard));
  }

 private:
  const unsigned node_;
};

}  // namespace

constinit const backing_kind kNodeBacking{
    .name = "node",
    .argument = "N",
    .help = "a memory node, as CXL memory or the memory of another socket",
    .describe =
        [](const std::string& node) {
          return backing_description{.leaves_for = name_of(node),
                                     .room = name_of(node) + " or in the control group's limit",
                                     .directory = {},
                                     .is_direct = true};
        },
    .make = [](const std::string& text) -> base::result<std::unique_ptr<backing>> {
      const auto node = base::parse_number<unsigned>(text, 0, ~0U);
      if (!node) {
        return std::unexpected(base::error{
            "'node:" + text + "' names no memory node: give a number, as node:1", EINVAL});
      }
      if (auto usable = os::check_node(*node); !usable) return std::unexpected(usable.error());
      return std::make_unique<node_memory>(*node);
    }};

}  // namespace isotherm::heap
