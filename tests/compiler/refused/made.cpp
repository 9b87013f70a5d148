// Addresses that isotherm::make() gives: bound to a scope, as those of guides, once a guide holds
// the object. made.expected has the messages and their places.
#include <cstdlib>
#include <isotherm/compiler.hpp>
#include <memory>
#include <utility>

struct record {
  explicit record(int of) : a(of) {}
  void end() { delete this; }
  int a;
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

record* everybodys;
record fixed(0);
record* made_elsewhere();
void keep(record* object) { everybodys = object; }
void own(node* at, record* object) { at->value = object; }

class structure {
 public:
  record* insert() {
    record* const made = isotherm::make<record>(1);
    node_->value = made;
    return made;
  }
  record& element() {
    record* const made = isotherm::make<record>(1);
    record* const same = made;
    node_->value = same;
    return *made;
  }
  void store() { everybodys = isotherm::make<record>(1); }
  void store_before(node* other) {
    record* const made = isotherm::make<record>(1);
    keep(made);
    other->value = made;
  }
  void two_owners(node* other) {
    record* const made = isotherm::make<record>(1);
    node_->value = made;
    other->value = made;
  }
  void two_owners_by_copy(node* other) {
    record* const made = isotherm::make<record>(1);
    record* const same = made;
    node_->value = same;
    other->value = made;
  }
  void two_owners_by_loop() {
    record* const made = isotherm::make<record>(1);
    for (node* at = node_; at != nullptr; at = at->next) at->value = made;
  }
  void two_owners_by_call(node* other) {
    record* const made = isotherm::make<record>(1);
    own(node_, made);
    own(other, made);
  }
  void two_owners_by_exchange(node* other) {
    record* const made = isotherm::make<record>(1);
    isotherm::discard(std::exchange(node_->value, made));
    isotherm::discard(std::exchange(other->value, made));
  }
  void two_owners_in_a_lambda(node* other) {
    const auto own_both = [=, this] {
      record* const made = isotherm::make<record>(1);
      node_->value = made;
      other->value = made;
    };
    own_both();
  }
  void left_behind() { node_->value = everybodys; }
  void left_behind_by_local() {
    record* const found = everybodys;
    node_->value = found;
  }
  void not_made() { node_->value = &fixed; }
  void not_made_by_local() {
    record* const made = new record(1);
    node_->value = made;
  }
  void ended() {
    record* const made = isotherm::make<record>(1);
    delete made;
  }
  void ended_by_pointer() { const std::unique_ptr<record> owner(isotherm::make<record>(1)); }
  void ended_by_free() { std::free(isotherm::make<record>(1)); }
  void ended_by_destructor() { node_->value->~record(); }
  void made_elsewhere_and_stored() { everybodys = made_elsewhere(); }

  record* factory() { return isotherm::make<record>(1); }
  void either(bool first, node* other) {
    record* const made = isotherm::make<record>(1);
    if (first) {
      node_->value = made;
    } else {
      other->value = made;
    }
  }
  void many() {
    for (node* at = node_; at != nullptr; at = at->next) {
      record* const made = factory();
      at->value = made;
    }
  }
  void handed_over(node* other) {
    record* taken = std::exchange(node_->value, nullptr);
    other->value = taken;
    taken = isotherm::make<record>(2);
    node_->value = taken;
  }

 private:
  node* node_;
};
