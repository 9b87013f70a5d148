// Places that outlive a scope, written by way of local objects of std that stand for them, threads
// that are handed on, and iterators of views. places.expected has the messages and their places.
#include <atomic>
#include <functional>
#include <isotherm/compiler.hpp>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

struct record {
  int key = 0;
  int list[4] = {};
};

struct node {
  node* next = nullptr;
  [[isotherm::guide]] record* value = nullptr;
};

record* kept;
record* several[2];
std::vector<record*> all;
std::vector<int*> numbers;
std::jthread worker;
int no_list[4];
record nobody;

void by_inserter(node* n) {
  auto place = std::back_inserter(all);
  *place++ = static_cast<record*>(n->value);
}
void by_iterator(node* n) {
  auto place = all.begin();
  *place = n->value;
}
void by_span(node* n) {
  std::span<record*> places(several);
  places[0] = n->value;
}
void by_reference(node* n) {
  auto place = std::ref(kept);
  place.get() = n->value;
}
void by_atomic(node* n) {
  const std::atomic_ref<record*> place(kept);
  place.store(n->value);
}
void by_tuple(node* n) {
  auto places = std::tie(kept);
  std::get<0>(places) = n->value;
}
void by_view(node* n) {
  auto addresses = n->value->list | std::views::transform([](int& each) { return &each; });
  numbers.assign(addresses.begin(), addresses.end());
}
void by_thread(node* n) {
  std::jthread one([found = static_cast<record*>(n->value)] { ++found->key; });
  worker = std::move(one);
}
void by_detached(node* n) {
  std::jthread one([found = static_cast<record*>(n->value)] { ++found->key; });
  one.detach();
}
void by_deleter(node* n) { std::default_delete<record>{}(n->value); }

void by_default(node* n) {
  std::span<record*> places;
  places = several;
  places[0] = n->value;
}
std::span<int> by_rebinding(node* n) {
  std::span<int> rest(no_list);
  rest = n->value->list;
  return rest;
}
void by_rebinding_anothers(node* n, std::span<int>& rest) { rest = n->value->list; }

int rebinding(node* n) {
  std::span<int> list(no_list);
  auto of = std::ref(nobody);
  if (n->value != nullptr) {
    list = n->value->list;
    of = *n->value;
  }
  return list[0] + of.get().key;
}
int in_local_places(node* n) {
  std::vector<record*> found(2);
  auto place = found.begin();
  *place++ = n->value;
  std::span<record*> rest(found);
  rest[1] = n->value;
  std::atomic_ref<record*>(found[1]).store(n->value);
  std::jthread one([first = static_cast<record*>(n->value)] { ++first->key; });
  one.request_stop();
  return found[0]->key;
}
