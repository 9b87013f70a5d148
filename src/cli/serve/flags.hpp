// The flags of `isotherm serve`.
#pragma once

namespace CLI {
class App;
}

namespace isotherm::cli {

struct serve_options;

/// Adds the flags to `command`; they are read into `given`, which must outlive it and holds their
/// defaults.
void add_serve_flags(CLI::App& command, serve_options& given);

}  // namespace isotherm::cli
