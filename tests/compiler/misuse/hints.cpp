// Uses of a marked field that clang itself refuses, in the words of the source. hints.expected has
// the messages and their places.
#include <cstdio>
#include <isotherm/compiler.hpp>
#include <utility>

struct record {
  int a = 0;
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] struct record* value = nullptr;
  [[isotherm::guide]] const record* fixed = nullptr;
  [[isotherm::guid]] record* mistyped = nullptr;
  [[isotherm::owner]] record* unknown = nullptr;
};
[[isotherm::insid]] void mistyped(node*);

template <class T>
void by_pointer(T* object);
template <class T>
void by_value(T object);
node* everybodys;
record* kept;

void deduced(node* n) { auto* p = n->value; }
void constant(node* n) { const auto* p = n->fixed; }
int condition(node* n) {
  if (auto* p = n->value) return p->a;
  return 0;
}
void copied(node* n) { auto p = n->value; }
void captured(node* n) {
  [p = n->value] { return p->a; }();
}
void printed(node* n) { std::printf("%p\n", n->value); }
record* chosen(node* n, bool is_there) { return is_there ? n->value : nullptr; }
void to_template(node* n) { by_pointer(n->value); }
void to_template_by_value(node* n) { by_value(n->value); }
void bound(node* n) { record*& p = n->value; }
void second_owner(node* n) { n->value = n->next->value; }
void counted(node* n) { n->value++; }
void as_number(node* n) { long number = (long)n->value; }
node copy(node* n) { return *n; }
// This one is the plugin's, and is reported beside the others.
void stored(node* n) { kept = n->value; }
