#include "cli/report_file.hpp"

#include <filesystem>
#include <span>

#include "cli/fail.hpp"
#include "os/files/paths.hpp"

namespace isotherm::cli {
namespace {

constexpr const char* kAdvice = ": check the name and the permissions";

}  // namespace

report_file::report_file(const std::string& path) : path_(path) {
  if (path.empty()) return;
  if (const auto there = os::identity(path); there && !there->regular) {
    device_.open(path);
    if (!device_) fail("cannot write the report to " + path + kAdvice);
    return;
  }
  auto made = os::pending_file::create(path);
  if (!made) fail("the report: " + made.error().message + kAdvice);
  file_ = std::move(*made);
}

void report_file::write(const std::string& text, const std::string& done) {
  if (path_.empty()) return;
  const std::string problem = done + ", but cannot write the report to " + path_;
  if (device_.is_open()) {
    if (!(device_ << text).flush()) fail(problem);
    return;
  }
  if (auto r = file_.handle().write(std::as_bytes(std::span(text)), 0); !r) {
    fail(problem + ": " + r.error().message);
  }
  if (auto r = file_.publish(); !r) fail(problem + ": " + r.error().message);
}

void check_appendable(const std::string& flag, const std::string& path) {
  if (path.empty() || path == "-") return;
  const bool existed = std::filesystem::exists(path);
  if (!std::ofstream(path, std::ios::app)) fail("cannot write " + flag + " " + path);
  if (!existed) std::filesystem::remove(path);
}

}  // namespace isotherm::cli
