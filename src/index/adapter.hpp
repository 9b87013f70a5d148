// Erases the type of a structure, at the cost of one virtual call per operation, so that a store, a
// benchmark and the tests are written once for all structures and both kinds of storage.
#pragma once

#include "index/concept.hpp"
#include "index/registry.hpp"
#include "index/storage.hpp"

namespace isotherm::index {

/// any_index over `Structure<Storage>`.
template <template <class> class Structure, class Storage>
  requires concurrent_index<Structure<Storage>>
class adapter : public any_index {
 protected:
  using structure = Structure<Storage>;

 public:
  explicit adapter(std::size_t expected_keys, const Storage& storage = {})
      : structure_(expected_keys, storage) {}

  std::optional<std::string_view> find(access& inside, std::string_view key) override {
    inside.begin();
    return structure_.find(inside, key);
  }
  bool contains(access& inside, std::string_view key) override {
    inside.begin();
    return structure_.contains(inside, key);
  }
  outcome insert(access& inside, std::string_view key, const content& value) override {
    inside.begin();
    return structure_.insert(inside, key, value);
  }
  outcome upsert(access& inside, std::string_view key, const content& value) override {
    inside.begin();
    return structure_.upsert(inside, key, value);
  }
  bool erase(access& inside, std::string_view key) override {
    inside.begin();
    return structure_.erase(inside, key);
  }
  outcome update(access& inside, std::string_view key, const updater& decide) override {
    inside.begin();
    return structure_.update(inside, key, decide);
  }
  void scan(access& inside, [[maybe_unused]] std::string_view from,
            [[maybe_unused]] const visitor& visit) override {
    inside.begin();
    if constexpr (ordered_index<structure>) structure_.scan(inside, from, visit);
  }
  void scan_back(access& inside, [[maybe_unused]] std::optional<std::string_view> from,
                 [[maybe_unused]] const visitor& visit) override {
    inside.begin();
    if constexpr (ordered_index<structure>) structure_.scan_back(inside, from, visit);
  }
  bool is_ordered() const noexcept override { return ordered_index<structure>; }
  std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit) override {
    inside.begin();
    return structure_.walk(inside, cursor, visit);
  }
  std::size_t size() const noexcept override { return structure_.size(); }
  void clear() override { structure_.clear(); }
  std::string_view name() const noexcept override { return structure::kName; }
  bool is_managed() const noexcept override { return Storage::kManaged; }
  bool is_valid() override { return structure_.is_valid(); }

 protected:
  structure structure_;
};

/// An adapter over a tree whose nodes are placed.
template <template <class> class Structure, class Storage>
class placed_adapter final : public adapter<Structure, Storage>, public placement::placed_tree {
 public:
  explicit placed_adapter(placement::placer& chooser)
      : adapter<Structure, Storage>(0, Storage(chooser)) {}

  bool visit_leaves(const scope& inside, std::string& cursor,
                    const placement::leaf_visitor& visit) override {
    return this->structure_.visit_leaves(inside, cursor, visit);
  }
  placement::relocated relocate(const scope& inside, std::span<void* const> path,
                                placement::tier to) override {
    return this->structure_.relocate(inside, path, to);
  }
};

template <template <class> class Structure>
std::unique_ptr<any_index> make_adapter(management kind, std::size_t expected_keys) {
  if (kind == management::on) return std::make_unique<adapter<Structure, managed>>(expected_keys);
  return std::make_unique<adapter<Structure, unmanaged>>(expected_keys);
}

template <template <class> class Structure, class Storage>
placed_index make_placed_adapter(placement::placer& chooser) {
  auto made = std::make_unique<placed_adapter<Structure, Storage>>(chooser);
  placement::placed_tree* const tree = made.get();
  return {std::move(made), tree};
}

}  // namespace isotherm::index
