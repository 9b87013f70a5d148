// Uses of the word of a guide. words.expected has the messages and their places.
#include <isotherm/compiler.hpp>

struct record {
  int a;
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

struct watcher {
  template <class T>
  explicit watcher(T& of);
};

class structure {
 public:
  void reinterpreted() { reinterpret_cast<unsigned long&>(node_->value) = 0; }
  void given_to_constructor() { watcher watch(node_->value); }
  void aggregate() {
    node second{nullptr, static_cast<record*>(node_->value)};
    node ordinary{nullptr, new record{1}};
  }
  [[isotherm::untouched]] void untouched(record* found) { node made{nullptr, found}; }

 private:
  node* node_;
};
