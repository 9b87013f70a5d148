// Memory that isotherm::make() has not made and that a marked field is given. not_made.expected has
// the messages and their places.
#include <cstdlib>
#include <isotherm/compiler.hpp>
#include <memory>
#include <utility>

struct record {
  int a = 0;
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
  [[isotherm::guide]] int* number = nullptr;
};

record everybodys;
record many[4];
record* fresh() { return new record; }
record* of_all() { return &everybodys; }
record* either(bool is_new) { return is_new ? fresh() : of_all(); }
record* made() { return isotherm::make<record>(); }
record* made_or_none(bool is_there) {
  if (!is_there) return nullptr;
  record* const found = isotherm::make<record>();
  return &*found;
}

void by_function(node* n) { n->value = fresh(); }
void by_local(node* n) {
  record* const found = either(true);
  n->value = found;
}
void by_condition(node* n, bool is_new) {
  n->value = is_new ? new record : isotherm::make<record>();
}
void by_static(node* n) {
  static record once;
  n->value = &once;
}
void by_element(node* n) { n->value = &many[2]; }
void by_smart_pointer(node* n) { n->value = std::make_unique<record>().release(); }
void by_shared(node* n, std::shared_ptr<record> shared) { n->value = shared.get(); }
void by_malloc(node* n) { n->number = static_cast<int*>(std::malloc(sizeof(int))); }
void by_exchange(node* n) { std::exchange(n->value, new record); }

void by_make(node* n) { n->value = made(); }
void by_make_or_none(node* n) { n->value = made_or_none(true); }
