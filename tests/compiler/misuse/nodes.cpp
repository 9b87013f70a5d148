// Memory of nodes, in which the collector goes on writing until their destructors are called.
// nodes.expected has the messages and their places.
#include <cstddef>
#include <cstdlib>
#include <isotherm/compiler.hpp>
#include <memory>
#include <new>

struct record {
  int key = 0;
};

struct node {
  void renew() { new (this) node; }
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

struct plain {
  void* words[2];
};

struct pair {
  node first, second;
};

void another_object(node* n) { new (n) plain; }
void same_variable() {
  node n;
  new (&n) node;
}
void same_variable_by_std() {
  node n;
  std::construct_at(std::addressof(n));
}
void same_elements() {
  node several[2];
  new (several) node;
  new (&several[1]) node;
}
void same_member(pair& p) { std::construct_at(&p.first); }
void given_back(node* n) { ::operator delete(n); }
void given_back_as_bytes(node* n) { delete[] reinterpret_cast<char*>(n); }
void freed(node* n) { std::free(n); }
void deleted_as_another(node* n) { delete reinterpret_cast<plain*>(n); }

void clear(node* first);

node* fresh() { return new (std::malloc(sizeof(node))) node; }
void fresh_by_pointer(node* memory) { new (memory) node; }
void fresh_in_bytes() {
  alignas(node) std::byte memory[sizeof(node)];
  auto* const n = new (memory) node;
  n->~node();
}
void fresh_by_casts() {
  alignas(node) std::byte memory[sizeof(node)];
  std::construct_at(reinterpret_cast<node*>(memory));
  new (reinterpret_cast<node*>(&memory)) node;
}
void ended(node* n) {
  n->~node();
  std::free(n);
}
void ended_elsewhere(node* first) {
  clear(first);
  ::operator delete(first);
}
void ended_by_std(node* n) {
  std::destroy_at(n);
  ::operator delete(n);
}
void ended_by_an_allocator(std::allocator<node>& by, node* n) {
  std::allocator_traits<std::allocator<node>>::destroy(by, n);
  by.deallocate(n, 1);
}
void ended_and_used_anew(node& n) {
  n.~node();
  new (&n) node;
}
void deleted(node* n) { delete n; }
