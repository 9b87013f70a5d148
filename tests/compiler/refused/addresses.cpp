// Uses that the plugin refuses of the address that a guide gives. addresses.expected has the
// messages and their places.
#include <cstdint>
#include <isotherm/compiler.hpp>

struct record {
  int a;
  int many[4];
};

struct node {
  node* next;
  [[isotherm::guide]] record* value = nullptr;
  record* cached = nullptr;
};

record* everybodys;
std::uintptr_t number;

class structure {
 public:
  void arithmetic() {
    record* found = node_->value;
    found = node_->value + 1;
    ++found;
    found->a = found[2].a;
    found->a = node_->value->many[3];
  }
  void numbers() {
    record* found = node_->value;
    number = reinterpret_cast<std::uintptr_t>(found);
    number = *reinterpret_cast<std::uint64_t*>(found);
  }
  void global() { everybodys = node_->value; }
  void global_by_local() {
    record* found = nullptr;
    if (node_->next) found = node_->value;
    record* other = found;
    everybodys = other;
  }
  void static_variable() {
    static record* first = node_->value;
    first->a = 1;
  }
  void field() {
    record& found = *node_->value;
    node_->cached = &found;
  }
  void field_of_new_node() { new node{nullptr, nullptr, node_->value}; }
  void parameter(record*& out) { out = node_->value; }
  void pointer_parameter(record** out) { *out = node_->value; }
  record* returned() { return node_->value; }
  int& returned_part() {
    record* found = node_->value;
    return found->a;
  }
  record* returned_by_helper() { return find(); }
  isotherm::pinned<record> allowed() { return isotherm::pinned<record>(node_->value); }
  [[isotherm::inside]] record* also_allowed() { return node_->value; }

 private:
  record* find() { return node_->value; }
  node* node_;
};
