// Uses of a guide itself that the plugin refuses. guides.expected has the messages and
// their places.
#include <coroutine>
#include <csetjmp>
#include <cstdlib>
#include <cstring>
#include <isotherm/compiler.hpp>
#include <utility>

struct record {
  int a;
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

template <class T>
void take(T& anything);

class structure {
 public:
  void address() {
    auto* where = &node_->value;
    (void)where;
  }
  void reference() {
    auto& same = node_->value;
    (void)same;
  }
  void argument() { take(node_->value); }
  void bytes(node* other) {
    std::memset(other, 0, sizeof(node));
    std::free(other);
  }
  void unconstructed() { node_ = static_cast<node*>(std::malloc(sizeof(node))); }
  void ordinary_memory() {
    node_->value = new record{1};
    delete node_->value;
  }
  void two_owners(node* other) {
    record* found = node_->value;
    other->value = found;
  }
  void handed_over(node* other) {
    other->value = std::exchange(node_->value, nullptr);
    std::swap(other->value, node_->value);
    record* nobodys = std::exchange(node_->value, nullptr);
    other->value = nobodys;
    record* found = other->value;
    if (!found) {
      found = isotherm::make<record>(1);
      other->value = found;
    }
  }
  void jump() {
    if (setjmp(buffer_) == 0) node_->value->a = 1;
  }
  void jump_elsewhere() { std::longjmp(buffer_, 1); }
  static int tail(node* at, record*) { [[clang::musttail]] return use(at, at->value); }

 private:
  static int use(node*, record*);
  node* node_;
  std::jmp_buf buffer_;
};

struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

task coroutine(node* at) {
  at->value->a = 1;
  co_return;
}

// A template is complained of once, at its own place.
template <class T>
class pair_of {
 public:
  T* first() { return node_->value; }

 private:
  struct held {
    [[isotherm::guide]] T* value = nullptr;
  };
  held* node_;
};
template class pair_of<int>;
template class pair_of<long>;
