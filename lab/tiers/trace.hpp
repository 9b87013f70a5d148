// Requests of a recorded trace of blocks, to be sent again.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace isotherm::lab {

struct block_trace {
  std::shared_ptr<const std::vector<std::uint64_t>> requests;  ///< in their order; below `blocks`
  std::uint64_t blocks = 0;                                    ///< different ones
};

/// Reads a text of a request a line: a block's number, and how many blocks from it on (default 1);
/// what follows is skipped. The blocks are numbered anew, in their order and without gaps. Takes 16
/// bytes a block requested. Errors name the file, and the line.
base::result<block_trace> read_trace(const std::string& path);

}  // namespace isotherm::lab
