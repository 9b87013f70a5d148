// Uses of an address that nobody has listed, each refused by itself or because it is not listed.
// unlisted.expected has the messages and their places.
#include <bit>
#include <cstdint>
#include <isotherm/compiler.hpp>
#include <new>

struct record {
  int a;
  int many[4];
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

struct holder {
  record* held;
};
union either {
  record* pointer;
  std::uintptr_t number;
};

record* everybodys;
record fallback;
record** list;
int* part;
_Atomic(record*) shared;
std::uintptr_t number;

class structure {
 public:
  void omitted_middle() { everybodys = static_cast<record*>(node_->value) ?: &fallback; }
  void statement_expression() {
    everybodys = ({
      record* const found = node_->value;
      found;
    });
  }
  void comma() { everybodys = (++count_, static_cast<record*>(node_->value)); }
  void assembler() {
    record* const found = node_->value;
    asm volatile("mov %1, %0" : "=r"(everybodys) : "r"(found));
  }
  void atomic() { shared = static_cast<record*>(node_->value); }
  void builtin() { __atomic_store_n(&everybodys, static_cast<record*>(node_->value), 0); }
  void new_pointer() { list = new (record*)(node_->value); }
  void new_array() { list = new record*[1]{node_->value}; }
  void over_it() { everybodys = new (static_cast<record*>(node_->value)) record{}; }
  record* by_pointer_to_pointer() {
    record* found = node_->value;
    record** const where = &found;
    return *where;
  }
  void punned() {
    record* found = node_->value;
    number = *reinterpret_cast<std::uintptr_t*>(&found);
  }
  void cast_of_bits() {
    record* const found = node_->value;
    number = std::bit_cast<std::uintptr_t>(found);
  }
  void local_array() {
    record* const all[2] = {node_->value, nullptr};
    everybodys = all[0];
  }
  void static_array() {
    static record* all[1] = {node_->value};
    all[0]->a = 1;
  }
  void of_union() {
    const either both{node_->value};
    everybodys = both.pointer;
  }
  void parenthesised() { kept_ = holder(node_->value); }
  void thrown() {
    record* const found = node_->value;
    throw found;
  }
  int* first_set() {
    for (int& each : node_->value->many) {
      if (each != 0) return &each;
    }
    return nullptr;
  }
  int& bound() {
    auto& [a, many] = *node_->value;
    return many[a];
  }
  int& by_member_pointer() {
    constexpr int record::* where = &record::a;
    return node_->value->*where;
  }

  int used(int index) {
    record* const found = node_->value;
    if (!found || found == &fallback) return 0;
    auto& [a, many] = *found;
    int sum = a + many[index] + found->many[1];
    for (const int& each : found->many) sum += each;
    found->a += sizeof(*found);
    ++found->many[2];
    (void)found;
    const record copy = *found;
    fallback = *found;
    return sum + copy.a + static_cast<int>(&found->many[3] - found->many);
  }

 private:
  int count_ = 0;
  holder kept_;
  node* node_;
};
