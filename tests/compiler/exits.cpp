#include "exits.hpp"

#include "sync/scope.hpp"

namespace exits {

int depth() {
  const isotherm::sync::thread_slot* const mine = isotherm::sync::this_thread_slot;
  return mine == nullptr ? 0 : static_cast<int>(mine->depth);
}
void structure::fail() { throw std::runtime_error("callee"); }
int structure::calls_shared() { return shared(); }
int structure::tail(int number) { return 10 * depth() + number; }
record* find(node& at) { return at.value; }

}  // namespace exits
