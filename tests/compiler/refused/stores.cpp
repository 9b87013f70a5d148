// Addresses that are stored in memory without a name, and by methods that are not public.
// stores.expected has the messages and their places.
#include <isotherm/compiler.hpp>
#include <utility>
#include <vector>

struct record {
  int a;
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

record* table[4];
record** everybodys;
record* one;
record* two;

node only;
template <class Visit>
void each(Visit visit) {
  visit(only);
}

class structure {
 public:
  int all(node* at) {
    record* found = nullptr;
    fill(found);
    by_reference(at);
    return found->a;
  }

 private:
  void element() { table[1] = node_->value; }
  void pointed_to() { *everybodys = node_->value; }
  void member_element(int index) { cache_[index] = node_->value; }
  void of_vector() { kept_[0] = node_->value; }
  void either(bool first) { (first ? one : two) = node_->value; }
  void fill(record*& out) { out = node_->value; }
  void at(record** out) { out[2] = node_->value; }
  void local_element() {
    record* found[2];
    found[0] = node_->value;
  }
  void in_loop() {
    for (record*& slot : cache_) slot = node_->value;
  }
  void bound(std::pair<record*, int>& to) {
    auto& [pointer, number] = to;
    pointer = node_->value;
    number = 1;
  }
  void in_lambda() {
    const auto fill = [this](record*& out) { out = node_->value; };
    record* found = nullptr;
    fill(found);
    each([](node& at) { table[2] = at.value; });
  }
  void in_generic_lambda() {
    record* found = nullptr;
    each([](auto& at) { one = at.value; });
    each([&](auto& at) { found = at.value; });
    two = found;
  }
  /// The plugin follows a reference to its object.
  record* by_reference(node* other) {
    record* found = nullptr;
    record*& same = found;
    same = node_->value;
    other->value = found;
    return found;
  }

  record* cache_[2];
  std::vector<record*> kept_;
  node* node_;
};
