// An index that hands everything to another one, for tests that do something more.
#pragma once

#include <memory>
#include <utility>

#include "index/index.hpp"

namespace isotherm::server {

class forwarding_index : public index::any_index {
 public:
  explicit forwarding_index(std::unique_ptr<index::any_index> real) : real_(std::move(real)) {}

  std::optional<std::string_view> find(const index::scope& inside, std::string_view key) override {
    return real_->find(inside, key);
  }
  bool contains(const index::scope& inside, std::string_view key) override {
    return real_->contains(inside, key);
  }
  index::outcome insert(std::string_view key, const index::content& value) override {
    return real_->insert(key, value);
  }
  index::outcome upsert(std::string_view key, const index::content& value) override {
    return real_->upsert(key, value);
  }
  bool erase(std::string_view key) override { return real_->erase(key); }
  index::outcome update(std::string_view key, const index::updater& decide) override {
    return real_->update(key, decide);
  }
  void scan(const index::scope& inside, std::string_view from,
            const index::visitor& visit) override {
    real_->scan(inside, from, visit);
  }
  void scan_back(const index::scope& inside, std::optional<std::string_view> from,
                 const index::visitor& visit) override {
    real_->scan_back(inside, from, visit);
  }
  bool is_ordered() const noexcept override { return real_->is_ordered(); }
  std::uint64_t walk(const index::scope& inside, std::uint64_t cursor,
                     const index::visitor& visit) override {
    return real_->walk(inside, cursor, visit);
  }
  std::size_t size() const noexcept override { return real_->size(); }
  void clear() override { real_->clear(); }
  std::string_view name() const noexcept override { return real_->name(); }
  bool is_managed() const noexcept override { return real_->is_managed(); }
  bool is_valid() override { return real_->is_valid(); }

 private:
  const std::unique_ptr<index::any_index> real_;
};

}  // namespace isotherm::server
