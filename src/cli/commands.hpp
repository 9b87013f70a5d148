// The subcommands of the tool.
#pragma once

#include <span>

#include "cli/parser/command.hpp"

namespace isotherm::cli {

/// Describes a subcommand, with the action that runs it, to the whole command line.
using add_command = void (*)(command root);

/// Those of this build (ISOTHERM_COMMANDS of CMakeLists.txt), in the order of the help.
std::span<const add_command> commands();

/// isotherm bench, whose parts ycsb, tiers, backends, tlb and trace add themselves to.
inline command bench_of(command root) {
  const command bench = root.subcommand(
      "bench", "measure stores, backends, trees on two tiers, and what the TLB costs");
  bench.require_subcommand();
  return bench;
}

void add_serve(command root);
void add_ycsb(command root);
void add_tiers(command root);
void add_backends(command root);
void add_tlb(command root);
void add_trace(command root);
void add_bench_trace(command root);
void add_device(command root);
void add_sort(command root);
void add_gensort(command root);
void add_valsort(command root);
void add_report(command root);
void add_top(command root);
void add_pages(command root);

}  // namespace isotherm::cli
