// Addresses that leave their scopes by way of lambdas, functions that are called through a pointer
// or defined elsewhere, and initializers. leaks.expected has the messages and their places.
#include <functional>
#include <future>
#include <isotherm/compiler.hpp>
#include <thread>
#include <utility>

struct record {
  int a;
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

node only;
record* everybodys;

record* global_initializer = only.value;
record* global_by_lambda = [] { return static_cast<record*>(only.value); }();
struct with_default {
  record* cached = only.value;
  [[isotherm::guide]] record* held = new record{1};
};

template <class Visit>
void each(Visit visit) {
  visit(only);
}

class structure {
 public:
  void captured_parameter(record*& out) {
    each([&](node& at) { out = at.value; });
  }
  void captured_pointer(record** out) {
    each([&](node& at) { *out = at.value; });
  }
  void local_reference(record*& out) {
    record*& same = out;
    same = node_->value;
  }
  int captured_local() {
    record* found = nullptr;
    each([&](node& at) { found = at.value; });
    return found == nullptr ? 0 : found->a;
  }
  int kept_by_thread() {
    record* found = nullptr;
    std::thread([&] { found = node_->value; }).join();
    return found->a;
  }
  int kept_by_task() {
    record* found = nullptr;
    std::async([&] { found = node_->value; }).wait();
    return found->a;
  }
  int kept_by_function() {
    const std::function<record*()> get = [this]() -> record* { return node_->value; };
    return get()->a;
  }
  int called_lambda() {
    record* const found = node_->value;
    const auto get = [&]() -> record* { return found; };
    everybodys = get();
    return get()->a;
  }
  int called_generic_lambda() {
    const auto get = [](auto& at) -> record* { return at.value; };
    everybodys = get(only);
    return 0;
  }
  void defined_elsewhere() {
    everybodys = find();
    node_ = following();
  }
  int through_pointer() {
    record* (structure::* const how)() = &structure::find;
    return (this->*how)()->a;
  }
  void null_at_first(node* other, bool is_there) {
    record* found = nullptr;
    if (is_there) found = node_->value;
    other->value = found;
  }
  [[isotherm::untouched]] int untouched() { return node_->value->a; }
  [[isotherm::untouched]] bool also_untouched() { return node_->value == nullptr; }
  void generic_kept_by_function() {
    const std::function<record*(node&)> get = [](auto& at) {
      record* found = at.value;
      return found;
    };
    get(only)->a = 1;
  }

 private:
  record* find();
  node* following();
  node* node_;
};
