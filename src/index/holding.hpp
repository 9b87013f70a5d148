// How an index holds its keys and values: by guides, which the collector may move, or by plain
// pointers and the ordinary allocator, which is the baseline. Indexes are templates over one of
// these two, so that the baseline pays nothing for management (DESIGN: measuring).
//
//   managed::holder     guide<bytes>    nodes in NODE     heirs of hot values are born hot
//   unmanaged::holder   plain pointer   nodes by malloc   values by malloc
#pragma once

#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

#include "base/atomic.hpp"
#include "guide/guide.hpp"
#include "guide/unreadable.hpp"
#include "heap/readable.hpp"
#include "index/content.hpp"

namespace isotherm::index {

/// How an operation looks at an object: to use it, or in passing, as a walk over everything does,
/// which must not make everything warm (guide::peek()).
enum class regard : unsigned char { use, glance };

template <class Holder>
bytes* look(const Holder& held, const scope& inside, regard how) noexcept {
  return how == regard::use ? held.get(inside) : held.peek(inside);
}

/// A guide that gives guides::unreadable_bytes() in the place of an object that cannot be read.
class guide_holder : public guide<bytes> {
 public:
  using guide<bytes>::guide;

  bytes* get(const scope& inside) const noexcept {
    bytes* const found = guide<bytes>::get(inside);
    return found ? found : stand_in(inside);
  }
  bytes* peek(const scope& inside) const noexcept {
    bytes* const found = guide<bytes>::peek(inside);
    return found ? found : stand_in(inside);
  }
  [[nodiscard]] bool compare_replace(const scope& inside, const bytes* expected,
                                     owned<bytes>& next) noexcept {
    return guide<bytes>::compare_replace(inside, real(expected), next);
  }
  [[nodiscard]] bool compare_clear(const scope& inside, const bytes* expected) noexcept {
    return guide<bytes>::compare_clear(inside, real(expected));
  }

 private:
  /// Null where there is nothing to be read.
  bytes* stand_in(const scope& inside) const noexcept {
    if (is_null()) [[likely]]
      return nullptr;
    const heap::read_watch reads;
    bytes* const found = guide<bytes>::get(inside);
    return reads.has_lost() ? const_cast<bytes*>(guides::unreadable_bytes()) : found;
  }
  const bytes* real(const bytes* expected) const noexcept {
    if (expected != guides::unreadable_bytes()) [[likely]]
      return expected;
    return static_cast<const bytes*>(guides::pointer_of(slot().load_acquire()));
  }
};

struct managed {
  using holder = guide_holder;
  using fresh = owned<bytes>;
  using read_watch = heap::read_watch;
  static constexpr bool kManaged = true;
  static constexpr std::string_view kName = "guide";

  static fresh make(const content& what) noexcept { return make_in(heap::kind::fresh, what); }
  static fresh make_successor(const holder& old, const content& what) noexcept {
    return make_in(old.birth_heap(), what);
  }
  static fresh make_in(heap::kind birth, const content& what) noexcept {
    fresh made = make_bytes_in(birth, what.size());
    if (made) what.write(made->data());
    return made;
  }
  static void* allocate_node(std::size_t size) noexcept { return heap::allocate_node(size); }
  static void deallocate_node(void* node) noexcept { heap::deallocate_node(node); }
  /// As allocate_node(); big memory costs pages only as they are used.
  static void* allocate_zeroed(std::size_t size) noexcept {
    return heap::allocate_node_zeroed(size);
  }
};

/// A plain pointer with guide's interface.
class plain_holder {
 public:
  class fresh {
   public:
    fresh() noexcept = default;
    explicit fresh(bytes* object) noexcept : object_(object) {}
    fresh(fresh&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    fresh& operator=(fresh&& other) noexcept {
      std::swap(object_, other.object_);
      return *this;
    }
    ~fresh() { std::free(object_); }
    bytes* get() const noexcept { return object_; }
    bytes* operator->() const noexcept { return object_; }
    explicit operator bool() const noexcept { return object_ != nullptr; }
    bytes* release() noexcept { return std::exchange(object_, nullptr); }

   private:
    bytes* object_ = nullptr;
  };

  plain_holder() noexcept = default;
  explicit plain_holder(fresh&& object) noexcept : object_(object.release()) {}
  plain_holder(plain_holder&& other) noexcept : object_(other.object_.exchange_acq_rel(nullptr)) {}
  plain_holder& operator=(plain_holder&& other) noexcept {
    if (this != &other) {
      reset();
      object_.store_release(other.object_.exchange_acq_rel(nullptr));
    }
    return *this;
  }
  ~plain_holder() { reset(); }

  bytes* get(const scope&) const noexcept { return object_.load_acquire(); }
  bytes* peek(const scope&) const noexcept { return object_.load_acquire(); }
  bool is_null() const noexcept { return object_.load_acquire() == nullptr; }
  bool holds(const bytes* address) const noexcept { return object_.load_acquire() == address; }
  [[nodiscard]] bool replace(const scope&, fresh&& next) {
    if (!next) return false;
    if (bytes* old = object_.exchange_acq_rel(next.release())) retire_object(old);
    return true;
  }
  [[nodiscard]] bool compare_replace(const scope&, const bytes* expected, fresh& next) {
    if (!next || !put(expected, next.get())) return false;
    next.release();
    return true;
  }
  [[nodiscard]] bool compare_clear(const scope&, const bytes* expected) {
    return put(expected, nullptr);
  }
  bool clear(const scope&) {
    bytes* const old = object_.exchange_acq_rel(nullptr);
    if (old) retire_object(old);
    return old != nullptr;
  }
  void reset() noexcept { std::free(object_.exchange_acq_rel(nullptr)); }

 private:
  bool put(const bytes* expected, bytes* next) {
    bytes* seen = const_cast<bytes*>(expected);
    if (!object_.compare_exchange_acq_rel(seen, next)) return false;
    if (seen) retire_object(seen);
    return true;
  }
  static void free_object(void* object) noexcept { std::free(object); }
  static void retire_object(bytes* old) noexcept {
    sync::retire(old, &free_object, bytes::footprint(old->size()));
  }
  base::atomic<bytes*> object_{nullptr};
};

struct unmanaged {
  using holder = plain_holder;
  using fresh = plain_holder::fresh;
  /// As heap::read_watch, where all can be read.
  struct read_watch {
    static constexpr bool has_lost() noexcept { return false; }
  };
  static constexpr bool kManaged = false;
  static constexpr std::string_view kName = "plain";

  static fresh make(const content& what) noexcept {
    void* memory = std::malloc(bytes::footprint(what.size()));
    if (!memory) return {};
    auto* object = bytes::place(memory, what.size());
    what.write(object->data());
    return fresh(object);
  }
  static fresh make_successor(const holder&, const content& what) noexcept { return make(what); }
  static void* allocate_node(std::size_t size) noexcept {
    void* node = std::malloc(size);
    ISO_CHECK(node, "out of memory for an index node");
    return node;
  }
  static void* allocate_zeroed(std::size_t size) noexcept {
    void* node = std::calloc(1, size);
    ISO_CHECK(node, "out of memory for an index node");
    return node;
  }
  static void deallocate_node(void* node) noexcept { std::free(node); }
};

}  // namespace isotherm::index
