// Virtual methods that return addresses. virtual.expected has the messages and their places.
#include <isotherm/compiler.hpp>

struct record {
  int a;
};

struct node {
  [[isotherm::guide]] record* value = nullptr;
};

// Reaches no marked field, so that its methods have no scopes.
class store {
 public:
  virtual ~store() = default;
  int first() { return find()->a; }

 protected:
  virtual record* open() = 0;
  [[isotherm::inside]] virtual record* inside() = 0;

 private:
  virtual record* find() = 0;
  virtual record& in(node& at) { return *at.value; }
};

class tree : public store {
 public:
  int second() { return own()->a; }

 private:
  record* open() override { return node_.value; }
  record* inside() override { return node_.value; }
  record* find() override { return node_.value; }
  virtual record* own() { return node_.value; }
  node node_;
};

struct shown {
  virtual record* get() = 0;
};
class hidden : shown {
  record* get() override { return node_.value; }
  node node_;
};

record* everybodys;

// Reaches marked fields. Its own find() returns null, and overriders return addresses.
class base {
 public:
  void keep() { everybodys = find(); }

 private:
  virtual record* find() { return nullptr; }
  node node_;
};
class derived : base {
  record* find() override { return own_.value; }
  node own_;
};
