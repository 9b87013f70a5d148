// The operations that a structure must offer to be held by any_index (adapter.hpp). A structure is
// a template over its storage (storage.hpp); its constructor takes the number of keys expected and
// a storage object, which may be left out where the storage has a default. Its operations mean what
// any_index says.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>

#include "index/index.hpp"

namespace isotherm::index {

/// A concurrent map of byte strings.
template <class S>
concept concurrent_index =
    requires(S s, const S& c, access& inside, std::string_view text, const content& value,
             const updater& decide, const pair_visitor& visit, std::uint64_t cursor) {
      { S::kName } -> std::convertible_to<std::string_view>;
      { s.find(inside, text) } -> std::same_as<std::optional<std::string_view>>;
      { s.contains(inside, text) } -> std::same_as<bool>;
      { s.insert(inside, text, value) } -> std::same_as<outcome>;
      { s.upsert(inside, text, value) } -> std::same_as<outcome>;
      { s.erase(inside, text) } -> std::same_as<bool>;
      { s.update(inside, text, decide) } -> std::same_as<outcome>;
      { s.walk(inside, cursor, visit) } -> std::same_as<std::uint64_t>;
      { c.size() } -> std::same_as<std::size_t>;
      { s.clear() };
      { s.is_valid() } -> std::same_as<bool>;
    };

/// A concurrent_index that also visits its keys in order.
template <class S>
concept ordered_index =
    concurrent_index<S> && requires(S s, access& inside, std::string_view from,
                                    std::optional<std::string_view> last, const visitor& visit) {
      s.scan(inside, from, visit);
      s.scan_back(inside, last, visit);
    };

}  // namespace isotherm::index
