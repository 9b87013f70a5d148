#include <tbb/concurrent_hash_map.h>
#include <urcu/rculfhash.h>
#include <urcu/urcu-memb.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "base/check.hpp"
#include "lab/micro/peers/store.hpp"

namespace isotherm::peers {
namespace {

std::uint64_t hash_of(std::string_view key) noexcept { return XXH3_64bits(key.data(), key.size()); }

struct string_compare {
  using is_transparent = void;
  static std::size_t hash(std::string_view key) noexcept { return hash_of(key); }
  static bool equal(std::string_view a, std::string_view b) noexcept { return a == b; }
};

class tbb_store final : public store {
 public:
  bool read(std::string_view key, char* out) override {
    map::const_accessor found;
    if (!map_.find(found, key)) return false;
    std::ranges::copy(found->second, out);
    return true;
  }
  void write(std::string_view key, std::string_view value) override {
    map::accessor found;
    map_.insert(found, key);
    found->second = value;
  }

 private:
  using map = tbb::concurrent_hash_map<std::string, std::string, string_compare>;
  map map_;
};

/// Key and value in one block: a write replaces the node, as the table's manual has it.
struct urcu_node {
  cds_lfht_node link;
  rcu_head retired;
  std::uint32_t key_size, value_size;

  char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
  std::string_view key() noexcept { return {text(), key_size}; }

  static urcu_node* make(std::string_view key, std::string_view value) {
    void* memory = std::malloc(sizeof(urcu_node) + key.size() + value.size());
    ISO_CHECK(memory, "out of memory");
    auto* n = ::new (memory) urcu_node{};
    cds_lfht_node_init(&n->link);
    n->key_size = static_cast<std::uint32_t>(key.size());
    n->value_size = static_cast<std::uint32_t>(value.size());
    std::memcpy(n->text(), key.data(), key.size());
    std::memcpy(n->text() + key.size(), value.data(), value.size());
    return n;
  }
  static urcu_node* of(cds_lfht_node* link) noexcept {
    return reinterpret_cast<urcu_node*>(link);  // its first member
  }
  static int matches(cds_lfht_node* link, const void* key) noexcept {
    return of(link)->key() == *static_cast<const std::string_view*>(key);
  }
  static void free_retired(rcu_head* head) noexcept {
    std::free(reinterpret_cast<char*>(head) - offsetof(urcu_node, retired));
  }
};

class urcu_store final : public store {
 public:
  urcu_store()
      : table_(cds_lfht_new_flavor(64, 64, 0, CDS_LFHT_AUTO_RESIZE | CDS_LFHT_ACCOUNTING,
                                   &urcu_memb_flavor, nullptr)) {
    ISO_CHECK(table_, "liburcu made no table");
  }
  ~urcu_store() override {
    enter_thread();
    cds_lfht_iter at;
    urcu_memb_read_lock();
    for (cds_lfht_first(table_, &at); cds_lfht_node* link = cds_lfht_iter_get_node(&at);
         cds_lfht_next(table_, &at)) {
      cds_lfht_del(table_, link);
      urcu_memb_call_rcu(&urcu_node::of(link)->retired, &urcu_node::free_retired);
    }
    urcu_memb_read_unlock();
    urcu_memb_barrier();
    leave_thread();
    cds_lfht_destroy(table_, nullptr);
  }
  urcu_store(const urcu_store&) = delete;
  urcu_store& operator=(const urcu_store&) = delete;

  void enter_thread() override { urcu_memb_register_thread(); }
  void leave_thread() override { urcu_memb_unregister_thread(); }
  bool read(std::string_view key, char* out) override {
    urcu_memb_read_lock();
    cds_lfht_iter at;
    cds_lfht_lookup(table_, hash_of(key), &urcu_node::matches, &key, &at);
    cds_lfht_node* link = cds_lfht_iter_get_node(&at);
    if (link) {
      urcu_node* n = urcu_node::of(link);
      std::memcpy(out, n->text() + n->key_size, n->value_size);
    }
    urcu_memb_read_unlock();
    return link != nullptr;
  }
  void write(std::string_view key, std::string_view value) override {
    urcu_node* replacement = urcu_node::make(key, value);
    urcu_memb_read_lock();
    cds_lfht_node* old =
        cds_lfht_add_replace(table_, hash_of(key), &urcu_node::matches, &key, &replacement->link);
    urcu_memb_read_unlock();
    if (old) urcu_memb_call_rcu(&urcu_node::of(old)->retired, &urcu_node::free_retired);
  }

 private:
  cds_lfht* table_;
};

}  // namespace

std::unique_ptr<store> make_tbb() { return std::make_unique<tbb_store>(); }
std::unique_ptr<store> make_urcu() { return std::make_unique<urcu_store>(); }

}  // namespace isotherm::peers
