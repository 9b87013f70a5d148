// Addresses that functions get: what is seen to keep none, or said to, may have them.
// passed.expected has the messages and their places.
#include <algorithm>
#include <any>
#include <cstring>
#include <functional>
#include <future>
#include <isotherm/compiler.hpp>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

struct record {
  const char* show() const { return text; }
  void log() const;
  int a;
  int many[4];
  char text[16];
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

record* everybodys;
std::string_view view;
std::vector<record*> all;
std::promise<record*> promised;
std::future<int> answer;

void elsewhere(const record&);
void part_elsewhere(const int&);
[[isotherm::inside]] int trusted(const record&);
extern "C" void callback(void (*)(void*), void*);

void keep(record& object) { everybodys = &object; }
void keep_by(record* object) { keep(*object); }
int read(const record& object, int depth) {
  return depth == 0 ? object.a : read(object, depth - 1);
}
record& same(record& object) { return object; }
struct cursor {
  explicit cursor(record* at) : at_(at) {}
  record* at_;
};
class hidden {
 public:
  std::string_view name() { return find(); }

 private:
  std::string_view find();
};

class structure {
 public:
  void kept() { keep(*node_->value); }
  void kept_deeper() { keep_by(node_->value); }
  void kept_by_object() { const cursor at(node_->value); }
  void defined_elsewhere() { elsewhere(*node_->value); }
  void part_defined_elsewhere() { part_elsewhere(node_->value->a); }
  void by_pointer(void (*visit)(record&)) { visit(*node_->value); }
  void by_function(const std::function<void(record&)>& visit) { visit(*node_->value); }
  void of_a_library() { callback(nullptr, static_cast<record*>(node_->value)); }
  void of_object() { node_->value->log(); }
  void by_lambda() {
    each([](record& at) { everybodys = &at; });
  }
  void by_free_function() { std::for_each(all.begin(), all.end(), keep_by); }
  void contained() { all.push_back(node_->value); }
  void contained_element() { all[0] = node_->value; }
  void copied_to() {
    std::vector<record*> own{node_->value};
    std::copy(own.begin(), own.end(), std::back_inserter(all));
  }
  void as_promised() { promised.set_value(node_->value); }
  void asked_of() {
    record* const found = node_->value;
    answer = std::async(std::launch::async, [](record* at) { return at->a; }, found);
  }
  void detached() {
    record* const found = node_->value;
    std::thread([](record* at) { at->a = 1; }, found).detach();
  }
  void swapped() {
    record* found = node_->value;
    record* other = nullptr;
    std::swap(found, other);
    everybodys = other;
  }
  std::string_view as_view() { return node_->value->text; }
  std::optional<record*> as_optional() {
    record* const found = node_->value;
    return found;
  }
  std::span<int> as_span() { return node_->value->many; }
  std::any as_any() { return static_cast<record*>(node_->value); }
  record& returned() { return same(*node_->value); }
  const char* by_search() { return std::strchr(node_->value->text, 'a'); }
  const int* largest() { return std::ranges::max_element(node_->value->many); }
  const int& larger() { return std::max(node_->value->a, node_->value->many[0]); }
  record* laundered() { return std::launder(static_cast<record*>(node_->value)); }
  record* exchanged() {
    record* found = node_->value;
    return std::exchange(found, nullptr);
  }
  record* invoked() {
    const auto get = [](node* at) -> record* { return at->value; };
    return std::invoke(get, node_);
  }
  record& transformed(std::vector<node*>& from) {
    auto values = from | std::views::transform([](node* at) -> record& { return *at->value; });
    return values[0];
  }
  auto lambda() {
    record* const found = node_->value;
    return [found] { return found->a; };
  }
  void pointer_to_lambda() {
    getter_ = [](node* at) -> record* { return at->value; };
  }
  void from_pinned() {
    const auto found = pin();
    everybodys = found.get();
  }
  isotherm::pinned<record> pin() { return isotherm::pinned<record>(node_->value); }

  int used() {
    record* const found = node_->value;
    std::vector<record*> own;
    own.push_back(found);
    const std::string_view text = found->text;
    const std::optional<record*> perhaps = found;
    const std::string copy(found->show());
    int sum = trusted(*found) + read(*found, 3) + same(*found).a + own[0]->a;
    std::for_each(found->many, found->many + 4, [&](int each) { sum += each; });
    std::vector<int> numbers;
    numbers.push_back(found->a);
    each([&](const record& at) { sum += at.a; });
    std::thread([&] { sum += found->a; }).join();
    return sum + (*perhaps)->a +
           static_cast<int>(text.size() + copy.size() + std::strlen(found->text));
  }

 private:
  template <class Visit>
  void each(Visit visit) {
    visit(*node_->value);
  }
  record* (*getter_)(node*);
  node* node_;
};

void tied(node& at) {
  int number = 0;
  std::tie(number, everybodys) = std::make_tuple(1, static_cast<record*>(at.value));
}
record* found_among(node& at) {
  std::vector<record*> own{at.value};
  return *std::max_element(own.begin(), own.end());
}
// Keeps what its callers have been told that it does not.
[[isotherm::inside]] void checked_here(record& object) { everybodys = &object; }
