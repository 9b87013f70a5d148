// Nodes that are treated as bytes. bytes.expected has the messages and their places.
#include <cstdlib>
#include <cstring>
#include <isotherm/compiler.hpp>

struct record {
  int a;
};

struct node {
  int key;
  [[isotherm::guide]] record* value = nullptr;
};

class structure {
 public:
  void set() {
    std::memset(buckets_, 0, sizeof buckets_);
    std::memset(&buckets_, 0, sizeof buckets_);
    std::memset(static_cast<void*>(one_), 0, sizeof *one_);
    std::memset((char*)one_, 0, sizeof *one_);
  }
  void copy(node* other, char* bytes) {
    std::memcpy(other, one_, sizeof *one_);
    std::memcpy(bytes, one_, sizeof *one_);
    std::memmove(bytes, &buckets_[1], sizeof(node));
  }
  void* grown() { return std::realloc(one_, 2 * sizeof *one_); }
  void keys(int* keys) {
    std::memset(keys, 0, 8);
    std::memset(&one_->key, 0, sizeof one_->key);
  }

 private:
  node buckets_[4];
  node* one_;
};
