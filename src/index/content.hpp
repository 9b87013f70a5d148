// A value that is to be written into an index.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace isotherm::index {

/// The size of a value, and a function that writes its bytes to the place where they are to lie: a
/// value that exists in pieces is thus copied only once. Valid as long as what it was made from;
/// cheap to copy.
class content {
 public:
  /// The bytes of a text. Implicit: a text can stand wherever a content is asked for.
  template <std::convertible_to<std::string_view> Text>
  content(const Text& text) noexcept : content(std::string_view(text)) {}
  content(std::string_view bytes) noexcept
      : size_(bytes.size()), source_(bytes.data()), write_(&copy) {}

  /// `size` bytes, which `fill(char* to)` writes, or leaves as they are. It is called whenever the
  /// value gets a place, possibly several times, and the result may be discarded; it must not throw
  /// and must not use the index. `fill` must outlive the content.
  template <std::invocable<char*> Fill>
  content(std::size_t size, const Fill& fill) noexcept
      : size_(size), source_(&fill), write_([](const content& self, char* to) {
          (*static_cast<const Fill*>(self.source_))(to);
        }) {}

  std::size_t size() const noexcept { return size_; }
  void write(char* to) const noexcept { write_(*this, to); }

 private:
  static void copy(const content& self, char* to) {
    if (self.size_ > 0) std::memcpy(to, self.source_, self.size_);
  }

  std::size_t size_;
  const void* source_;
  void (*write_)(const content& self, char* to);
};

}  // namespace isotherm::index
