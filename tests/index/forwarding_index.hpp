// An index that passes everything on to another one, for tests whose index does something more.
#pragma once

#include <memory>
#include <utility>

#include "index/index.hpp"

namespace isotherm::index {

class forwarding_index : public any_index {
 public:
  explicit forwarding_index(std::unique_ptr<any_index> inner) : inner_(std::move(inner)) {}

  std::optional<std::string_view> find(access& inside, std::string_view key) override {
    return inner_->find(inside, key);
  }
  bool contains(access& inside, std::string_view key) override {
    return inner_->contains(inside, key);
  }
  outcome insert(access& inside, std::string_view key, const content& value) override {
    return inner_->insert(inside, key, value);
  }
  outcome upsert(access& inside, std::string_view key, const content& value) override {
    return inner_->upsert(inside, key, value);
  }
  bool erase(access& inside, std::string_view key) override { return inner_->erase(inside, key); }
  outcome update(access& inside, std::string_view key, const updater& decide) override {
    return inner_->update(inside, key, decide);
  }
  void scan(access& inside, std::string_view from, const visitor& visit) override {
    inner_->scan(inside, from, visit);
  }
  void scan_back(access& inside, std::optional<std::string_view> from,
                 const visitor& visit) override {
    inner_->scan_back(inside, from, visit);
  }
  bool is_ordered() const noexcept override { return inner_->is_ordered(); }
  std::uint64_t walk(access& inside, std::uint64_t cursor, const pair_visitor& visit) override {
    return inner_->walk(inside, cursor, visit);
  }
  std::size_t size() const noexcept override { return inner_->size(); }
  void clear() override { inner_->clear(); }
  std::string_view name() const noexcept override { return inner_->name(); }
  bool is_managed() const noexcept override { return inner_->is_managed(); }
  bool is_valid() override { return inner_->is_valid(); }

 private:
  const std::unique_ptr<any_index> inner_;
};

}  // namespace isotherm::index
