// Marks where none may stand. marks.expected has the messages and their places.
#include <isotherm/compiler.hpp>

struct record {
  int a;
};

struct node {
  [[isotherm::guide]] int number;
  [[isotherm::guide]] record& reference;
  [[isotherm::guide]] void* anything;
  [[isotherm::guide]] void (*function)();
  [[isotherm::guide]] record** several;
  [[isotherm::guide]] static record* shared;
  [[isotherm::guide]] volatile record* changing;
  [[isotherm::guide]] record* volatile changed;
  union {
    [[isotherm::guide]] record* either;
    int or_else;
    struct {
      [[isotherm::guide]] record* inner;
    };
  };
};
[[isotherm::guide]] record* global;
void function([[isotherm::guide]] record* parameter);
[[isotherm::inside]] int variable;
[[isotherm::untouched]] int other_variable;
