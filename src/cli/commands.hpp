// The subcommands of the tool: each file adds its own to the parser, with a callback that runs it.
#pragma once

namespace CLI {
class App;
}

namespace isotherm::cli {

/// isotherm bench ycsb, isotherm bench tiers
void add_bench(CLI::App& app);
/// The second of these.
void add_bench_tiers(CLI::App& bench);
/// isotherm serve
void add_serve(CLI::App& app);
/// isotherm device
void add_device(CLI::App& app);
/// isotherm sort
void add_sort(CLI::App& app);
/// isotherm gensort
void add_gensort(CLI::App& app);
/// isotherm report
void add_report(CLI::App& app);
/// isotherm top
void add_top(CLI::App& app);
/// isotherm valsort
void add_valsort(CLI::App& app);

}  // namespace isotherm::cli
