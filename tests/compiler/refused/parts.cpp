// Parts of an object that its own methods give. parts.expected has the messages and their places.
#include <array>
#include <isotherm/compiler.hpp>
#include <optional>
#include <string_view>

struct record {
  const char* name() const { return name_; }
  const char* other_name() const { return name(); }
  int& operator[](int index) { return numbers[index]; }
  record* itself() { return this; }
  const char* title() const { return title_; }
  std::string_view view() const { return title_; }
  int& elsewhere();
  template <class T>
  T& as() {
    return number;
  }

  std::array<int, 4> numbers;
  std::optional<int> perhaps;
  int number;

 private:
  char name_[8];
  const char* title_;
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

const char* everybodys;

class structure {
 public:
  const char* name() { return node_->value->name(); }
  void other_name() { everybodys = node_->value->other_name(); }
  int& element() { return (*node_->value)[1]; }
  record* itself() { return node_->value->itself(); }
  int& of_array() { return node_->value->numbers[3]; }
  const int* begin_of_array() {
    record& found = *node_->value;
    return found.numbers.data();
  }
  int& of_optional() { return *node_->value->perhaps; }
  int& by_get() { return std::get<0>(node_->value->numbers); }
  int& elsewhere() { return node_->value->elsewhere(); }
  int& of_template() { return node_->value->as<int>(); }
  void another_guide(node* other) { other->value = node_->value->itself(); }

  // Parts that an object only points to, and copies.
  const char* title() { return node_->value->title(); }
  std::string_view view() { return node_->value->view(); }
  int copied() { return (*node_->value)[1] + node_->value->numbers[3]; }
  int& of_copy(record& copy) {
    copy = *node_->value;
    return copy.numbers[0];
  }

 private:
  node* node_;
};
