#include "collector/protocol/protocol.hpp"

#include <algorithm>
#include <string>

#include "base/words.hpp"
#include "collector/protocol/counts.hpp"
#include "collector/protocol/veto.hpp"
#include "heap/object.hpp"
#include "sync/step_hook.hpp"

namespace isotherm::collector {

namespace {

/// Copies piece by piece, as long as `slot` holds `expected`: an object that was used, replaced or
/// is being destroyed would be copied in vain. `moved`: all was copied.
move_result copy_while_wanted(const guides::slot_word& slot, guides::word expected, void* to,
                              const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes; done += kCopiedPieceBytes) {
    // Relaxed: the commit decides; this only saves what remains.
    if (done != 0 && slot.load_relaxed() != expected) return move_result::vetoed;
    base::copy_words_racy(static_cast<std::byte*>(to) + done,
                          static_cast<const std::byte*>(from) + done,
                          std::min(kCopiedPieceBytes, bytes - done));
    sync::pause_at(sync::step::copied_piece, &slot);
  }
  return move_result::moved;
}

}  // namespace

move_result copy_and_commit(guides::slot_word& slot, guides::word expected, const void* from,
                            heap::place target, std::size_t& bytes) {
  bytes = heap::object_size(from);
  void* const to = heap::allocate(target, bytes, heap::recycling::none);
  if (!to) return move_result::full;
  const auto next = guides::moved_to(expected, reinterpret_cast<guides::word>(to), target.where);
  // Release publishes the copy to threads that dereference the new word.
  move_result result = copy_while_wanted(slot, expected, to, from, bytes);
  if (result == move_result::moved && !slot.compare_exchange_acq_rel(expected, next)) {
    result = move_result::vetoed;
  }
  if (result != move_result::moved) {
    heap::deallocate(to, heap::recycling::none);
    return result;
  }
  heap::deallocate(guides::pointer_of(expected), heap::recycling::none);
  return move_result::moved;
}

const std::vector<std::string_view>& protocol_names() {
  static const std::vector<std::string_view> names{"veto", "counts"};
  return names;
}

base::result<std::unique_ptr<migration_protocol>> make_protocol(std::string_view name) {
  if (name == "counts") return make_counts_protocol();
  if (name == "veto") return make_veto_protocol();
  return std::unexpected(
      base::error{"unknown migration protocol '" + std::string(name) + "': choose veto or counts"});
}

}  // namespace isotherm::collector
