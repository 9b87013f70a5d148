// Compiled with -DCASE=N for each N; see CMakeLists.txt. A mistake with guides is to be told at
// compile time, by a message that says what to do.
#include <isotherm/guide.hpp>
#include <string>

struct over_aligned {
  alignas(32) int value;
};
struct relocatable {
  explicit relocatable(int v) : value(v) {}
  relocatable(const relocatable& other) : value(other.value) {}  // so not trivially copyable
  int value;
};
template <>
struct isotherm::is_trivially_relocatable<relocatable> : std::true_type {};

void use() {
#if CASE == 0
  auto held = isotherm::make_guide<relocatable>(1);
  const isotherm::scope inside;
  isotherm::write_in_place(held.get(inside)->value, 2);
  auto moved = std::move(held);
#elif CASE == 1  // points into itself; never filled
  const isotherm::guide<std::string> held;
#elif CASE == 2
  auto held = isotherm::make_guide<std::string>("text");
#elif CASE == 3
  auto held = isotherm::make_guide<over_aligned>();
#elif CASE == 4  // as a member of a node
  struct node {
    isotherm::guide<std::string> held;
  };
  const node one;
#elif CASE == 5  // two owners of one object
  auto held = isotherm::make_guide<int>(1);
  auto copy = held;
#elif CASE == 6
  auto held = isotherm::make_guide<relocatable>(1);
  const isotherm::scope inside;
  isotherm::write_in_place(*held.get(inside), relocatable(2));
#elif CASE == 7  // a scope belongs to its block
  const isotherm::scope inside;
  const isotherm::scope copy = inside;
#else
#error "no such case"
#endif
}
