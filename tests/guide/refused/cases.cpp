// Compiled with -DCASE=N for each N; see refused_test.py. A mistake with guides is to be told at
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
struct relocatable_row {
  int value = 0;
};

void use() {
#if CASE == 0
  auto held = isotherm::make_guide<relocatable>(1);
  const isotherm::scope inside;
  isotherm::write_in_place(held.get(inside)->value, 2);
  auto moved = std::move(held);
  auto row = isotherm::make_guide<relocatable_row[]>(3u);
  if (!row.replace(inside, isotherm::make_object(row, 4u))) return;
  row.get(inside)->begin()->value = 1;
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
#elif CASE == 8  // a length without its content
  auto held = isotherm::make_guide<isotherm::bytes>(1000u);
#elif CASE == 9
  isotherm::guide<isotherm::bytes> held(isotherm::make_bytes("text"));
  const isotherm::scope inside;
  isotherm::bytes copy = *held.get(inside);
#elif CASE == 10
  isotherm::guide<isotherm::bytes> held(isotherm::make_bytes("text"));
  const isotherm::scope inside;
  auto copy = isotherm::make_object<isotherm::bytes>(held, *held.get(inside));
#elif CASE == 11  // what memory was not enough for
  isotherm::guide<isotherm::bytes> held(isotherm::make_bytes("text"));
  const isotherm::scope inside;
  held.replace(inside, isotherm::make_bytes("other"));
#elif CASE == 12
  auto held = isotherm::make_guide<over_aligned[]>(3u);
#elif CASE == 13
  auto held = isotherm::make_guide<std::string[]>(3u);
#else
#error "no such case"
#endif
}
