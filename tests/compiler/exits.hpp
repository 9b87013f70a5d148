// Every way out of a public method that touches a guide. Compiled with the plugin.
#pragma once

#include <pthread.h>

#include <isotherm/compiler.hpp>
#include <ostream>
#include <stdexcept>

namespace exits {

struct record {
  int number = 0;
};
struct node {
  [[isotherm::guide]] record* value = nullptr;
};

/// How many scopes this thread has open.
[[isotherm::untouched]] int depth();

/// Notes depth() when it ends.
struct at_end {
  int& seen;
  ~at_end() { seen = depth(); }
};

class structure {
 public:
  structure() { node_.value = isotherm::make<record>(7); }
  virtual ~structure() { isotherm::discard(node_.value); }
  explicit structure(int number) : structure() {
    node_.value->number = number;
    if (number < 0) throw std::invalid_argument("negative");
  }

  int straight() { return node_.value->number; }
  int early(int number) {
    if (node_.value->number == number) return depth();
    node_.value->number = number;
    return -depth();
  }
  void throws() {
    if (node_.value->number == 7) throw std::runtime_error("own");
  }
  void throws_in_callee() {
    node_.value->number = 7;
    fail();
  }
  int catches() {
    try {
      throws_in_callee();
    } catch (const std::exception&) {
      return depth();
    }
    return node_.value->number;
  }
  void rethrows() {
    try {
      throws_in_callee();
    } catch (...) {
      node_.value->number = 8;
      throw;
    }
  }
  void catches_another() {
    node_.value->number = 7;
    try {
      fail();
    } catch (const std::logic_error&) {
    }
  }
  void throws_with_locals(int& seen) {
    const at_end local{seen};
    node_.value->number = 7;
    fail();
  }
  int never_throws() noexcept { return node_.value->number + depth(); }
  int calls_last(int number) {
    node_.value->number = number;
    return tail(number);
  }
  /// The frame, and its scope, are gone when the callee runs.
  static int replaced(structure& by, int number) {
    [[clang::musttail]] return takes_over(by, number);
  }
  [[noreturn]] void never_returns() {
    node_.value->number = 9;
    fail();
  }
  [[noreturn]] void ends_thread() {
    node_.value->number = 10;
    pthread_exit(nullptr);
  }
  virtual int overridden() { return node_.value->number + depth(); }
  static int of(structure& other) { return other.node_.value->number + depth(); }
  int nested() { return straight() + depth(); }
  /// Depth within a private method, and within a lambda.
  int inner() { return helper(); }
  int lambda() {
    const auto number = [this] { return depth() + 10 * node_.value->number; };
    return number();
  }
  /// Touches no guide.
  int untouched() const { return depth(); }

  /// Calls a private method in a scope; the other file calls it by its address.
  int calls_shared();

 private:
  friend int call_shared_by_address(structure& of);
  [[noreturn]] static void fail();
  static int tail(int);
  static int takes_over(structure& in, int number) {
    return in.node_.value->number * number + 100 * depth();
  }
  int shared() { return depth() + 10 * node_.value->number; }
  int helper() { return depth() + 10 * node_.value->number; }
  node node_;
};

struct derived : structure {
  int overridden() override { return structure::overridden() + 100 * depth(); }
};

/// Figure 5.5 of the dissertation.
class figure_5_5 {
 public:
  explicit figure_5_5(char first) { key_ = isotherm::make<char>(first); }
  ~figure_5_5() { isotherm::discard(key_); }
  void get(std::ostream& to) {
    if (*key_ > 37) {
      return;
    }
    *key_ = 42;
    to << "Value: " << *key_ << depth() << std::endl;
  }

 private:
  [[isotherm::guide]] char* key_ = nullptr;
};

/// Touches a guide when it ends.
class destroyed {
 public:
  explicit destroyed(int& seen) : seen_(seen) { node_.value = isotherm::make<record>(3); }
  ~destroyed() {
    seen_ = node_.value->number + 10 * depth();
    isotherm::discard(node_.value);
  }

 private:
  int& seen_;
  node node_;
};

/// A node with an object.
struct holder {
  holder() { at.value = isotherm::make<record>(5); }
  ~holder() { isotherm::discard(at.value); }
  node at;
};

/// Defined in another file, where it has no scope of its own.
[[isotherm::inside]] record* find(node& at);
inline int calls_inside(node& at) { return find(at)->number + 10 * depth(); }

int call_shared_by_address(structure& of);

/// Not a method.
inline int free_function(node& at) { return at.value->number + depth(); }

}  // namespace exits
