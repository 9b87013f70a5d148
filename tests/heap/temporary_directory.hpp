// A directory that is gone at the end of the test.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace isotherm::testing_help {

/// Lies under /var/tmp, which is on a disk where /tmp may be tmpfs.
class temporary_directory {
 public:
  temporary_directory() : path_("/var/tmp/isotherm-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "cannot make " << path_;
  }
  ~temporary_directory() { std::filesystem::remove_all(path_); }
  temporary_directory(const temporary_directory&) = delete;
  temporary_directory& operator=(const temporary_directory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace isotherm::testing_help
