// Objects that isotherm::discard() ends while a guide points to them. discarded.expected has the
// messages and their places.
#include <cstdio>
#include <isotherm/compiler.hpp>
#include <memory>
#include <utility>

struct record {
  int key = 0;
};

struct node {
  ~node() {
    record* const held = value;
    isotherm::discard(held);
  }
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

void unlink(node* n);

void left(node* n) {
  record* const old = n->value;
  ++old->key;
  std::printf("%d\n", old->key);
  isotherm::discard(old);
}
void left_at_once(node* n) { isotherm::discard(static_cast<record*>(n->value)); }
void left_by_operators(node* n) { isotherm::discard(&*n->value); }
void left_in_a_lambda(node* n) {
  const auto end = [n] {
    record* const old = n->value;
    isotherm::discard(old);
  };
  end();
}
void left_behind_a_return(node* n, bool stays) {
  record* const old = n->value;
  if (stays) {
    isotherm::discard(old);
    return;
  }
  isotherm::discard(old);
  n->value = nullptr;
}
void left_in_a_loop(node* n) {
  for (; n != nullptr; n = n->next) {
    record* const old = n->value;
    isotherm::discard(old);
  }
}
void by_field(node* n) { isotherm::discard(n->value); }
void handed_over(node* n) { isotherm::discard(std::exchange(n->value, nullptr)); }
void replaced(node* n) {
  record* const old = n->value;
  n->value = isotherm::make<record>();
  isotherm::discard(old);
}
void emptied_afterwards(node* n) {
  record* const old = n->value;
  isotherm::discard(old);
  n->value = nullptr;
}
void node_ended(node* n) {
  record* const old = n->value;
  delete n;
  isotherm::discard(old);
}
void node_ended_elsewhere(node* n) {
  record* const old = n->value;
  isotherm::discard(old);
  unlink(n);
}
void node_of_its_own() {
  node n;
  n.value = isotherm::make<record>();
  record* const old = n.value;
  isotherm::discard(old);
}
void node_of_the_callers(std::unique_ptr<node> n) {
  record* const old = n->value;
  isotherm::discard(old);
}
void on_one_way(node* n, bool ends) {
  record* const old = n->value;
  if (ends) n->value = nullptr;
  if (ends) isotherm::discard(old);
}
void one_after_the_other(node* n) {
  record* old = std::exchange(n->value, nullptr);
  isotherm::discard(old);
  old = std::exchange(n->next->value, nullptr);
  isotherm::discard(old);
  old = isotherm::make<record>();
  n->value = old;
}
