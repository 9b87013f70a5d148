#include "report.hpp"

#include "llvm/Support/raw_ostream.h"

namespace isotherm::compiler {

bool write_report(const touching& found, const std::string& path) {
  std::vector<std::string> lines;
  for (const auto& [function, facts] : found.functions()) {
    if (!facts.touches) continue;
    lines.push_back((facts.has_scope ? "scope\t" : "none\t") + readable_name(*function) + "\t" +
                    found.explain(function) + "\n");
  }
  std::sort(lines.begin(), lines.end());
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  if (error) return false;
  for (const std::string& line : lines) file << line;
  file.close();
  return !file.has_error();
}

}  // namespace isotherm::compiler
