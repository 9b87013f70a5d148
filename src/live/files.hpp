// The files of the page, as they lie in src/live/page; the build puts them into the library
// (cmake/embed_files.cmake).
#pragma once

#include <span>
#include <string_view>

namespace isotherm::live {

struct page_file {
  std::string_view name;  ///< "page.js"
  std::string_view content;
};

std::span<const page_file> page_files() noexcept;

}  // namespace isotherm::live
