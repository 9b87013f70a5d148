// Objects that cannot be moved by copying their bytes. moving.expected has the messages and their
// places.
#include <cstdio>
#include <cstdlib>
#include <isotherm/compiler.hpp>
#include <utility>

struct of_list {
  [[isotherm::guide]] of_list* next = nullptr;
};
template <>
struct isotherm::is_trivially_relocatable<of_list> : std::true_type {};

struct first {
  int a = 1;
};
struct second {
  int b = 2;
};
struct both : first, second {};

struct of_itself {
  char text[8] = "";
  char* at = text;
};
struct by_constructor {
  by_constructor() : self(this) {}
  void again() { self = this; }
  by_constructor* self;
};

struct node {
  int key = 0;
  [[isotherm::guide]] second* base = nullptr;
  [[isotherm::guide]] of_itself* itself = nullptr;
  [[isotherm::guide]] by_constructor* constructed = nullptr;
};
union choice {
  choice() {}
  ~choice() {}
  node one;
};

int compare(const void*, const void*);
void base(node& at) { at.base = isotherm::make<both>(); }
void sorted(node* all, std::size_t count) { std::qsort(all, count, sizeof(node), compare); }
void read(node* all, std::FILE* from) { (void)std::fread(all, sizeof(node), 1, from); }
void moved(node* all) { std::move((char*)all, (char*)(all + 1), (char*)(all + 2)); }
