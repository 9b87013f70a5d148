// btree-coarse: the B+tree of tree.hpp without versions, under one reader-writer lock: the baseline
// of btree-occ.
#pragma once

#include <shared_mutex>

#include "index/btree/scans.hpp"
#include "index/btree/tree.hpp"
#include "index/coarse.hpp"

namespace isotherm::index {

/// Ordered by bytes. All operations but the scans and walk linearizable. A writer waits for all
/// others; a reader waits for a writer, also for one that has yet to get the lock.
template <class Storage>
class btree_coarse : public coarse<btree_detail::tree<Storage, no_version_lock>, Storage>,
                     public btree_detail::scans<btree_coarse<Storage>,
                                                btree_detail::tree<Storage, no_version_lock>> {
  using tree = btree_detail::tree<Storage, no_version_lock>;
  using operations = coarse<tree, Storage>;
  friend btree_detail::scans<btree_coarse, tree>;

 public:
  static constexpr std::string_view kName = "btree-coarse";

  explicit btree_coarse(std::size_t /*expected_keys: a tree needs no size*/,
                        const Storage& storage = {})
      : operations(storage) {}

 private:
  using operations::core_;
  using operations::lock_;

  void collect_up(access& inside, const scan_start& from, reading how, typename tree::piece& out) {
    const std::shared_lock guard(lock_);
    core_.collect_up(inside, from, how, out);
  }
  void collect_down(access& inside, const std::optional<scan_start>& from,
                    typename tree::piece& out) {
    const std::shared_lock guard(lock_);
    core_.collect_down(inside, from, out);
  }
};

}  // namespace isotherm::index
