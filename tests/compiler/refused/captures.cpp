// Captures of a lambda that is kept. captures.expected has the messages and their places.
#include <functional>
#include <future>
#include <isotherm/compiler.hpp>
#include <thread>
#include <vector>

struct record {
  int a;
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

struct holder {
  std::function<int()> call;
};

class structure {
 public:
  void pointer() {
    record* found = node_->value;
    later_ = [found] { return found->a; };
  }
  void by_reference() {
    record& found = *node_->value;
    later_ = std::function<int()>([&] { return found.a; });
  }
  void renamed() {
    later_ = [part = &node_->value->a] { return *part; };
  }
  void named() {
    record* const found = node_->value;
    const auto get = [=] { return found->a; };
    all_.emplace_back(get);
  }
  std::future<int> task() {
    record* found = node_->value;
    return std::async([found] { return found->a; });
  }
  void member_of_aggregate() {
    record* found = node_->value;
    kept_ = holder{[found] { return found->a; }};
  }
  void stored_by_assigned() {
    record* found = nullptr;
    later_ = [&found, this] { return (found = node_->value)->a; };
  }

  void copied() {
    const record& found = *node_->value;
    later_ = [found] { return found.a; };
  }
  void of_node() {
    later_ = [at = node_] { return at->value->a; };
  }
  int waited_for() {
    record* found = node_->value;
    int seen = 0;
    std::thread([found, &seen] { seen = found->a; }).join();
    const auto called = [found] { return found->a; };
    return seen + called();
  }

 private:
  std::function<int()> later_;
  std::vector<std::function<int()>> all_;
  holder kept_;
  node* node_;
};
