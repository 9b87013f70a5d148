#include "cli/sort/arguments.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>

#include "base/error.hpp"
#include "cli/fail.hpp"
#include "cli/sort/keys.hpp"
#include "os/files/spool.hpp"

namespace isotherm::cli {

void add_order(command c, sort_arguments& a) {
  auto& o = a.options;
  const option record =
      c.add("--record", a.record_bytes,
            "input is records of this many bytes; without --record and --klv it is lines, ordered "
            "as LC_ALL=C sort orders them");
  option klv = c.add_switch(
      "--klv", a.klv, "input is records of key, 4-byte little-endian length of the value, value");
  const option offset = c.add("--key-offset", o.key_offset, "where the key begins in the record")
                            .hide_default()
                            .needs(record);
  klv.excludes(record).excludes(offset);
  c.add("--key-size", o.key_bytes, "bytes of the key of a record, if -k names no number");
  c.add("--header", o.header_lines,
        "lines: the first N of the input stay in front; other inputs' first N are left out")
      .hide_default();
  c.add_switch("-z,--zero-terminated", a.zero_terminated, "lines: a NUL ends each of them");
  c.add_switch("-s,--stable", o.stable, "equal keys keep their order (records always do)");
  c.add_switch("-u,--unique", o.unique, "of equal keys keep the first");
  add_key_flags(c, a);
}

namespace {

void add_selection(command c, sort_options& o) {
  c.add("--top", o.top, "write only the first N records of the order", std::uint64_t{1})
      .hide_default();
  c.add_switch("--count", o.count,
               "write each key once with the number of its records: key and 8-byte little-endian "
               "count; for lines count, tab, key; for CSV rows of count and key columns");
}

/// How to sort, and with what.
void add_method_options(command c, sort_options& o) {
  c.add_choice("--algorithm", o.algorithm, sort_algorithms(), "how to sort");
  c.add_choice("--concurrency", o.concurrency,
               {sort_concurrency::automatic, sort_concurrency::no_sync,
                sort_concurrency::io_overlap, sort_concurrency::no_io_overlap},
               "what may run beside what");
  c.add_choice("--compress", o.compression,
               {sort_compression::automatic, sort_compression::on, sort_compression::off},
               "whether runs of an index map are compressed; auto: on an emulated device, when it "
               "pays");
  c.add("--device", o.device,
        "profile of `device probe`, or an emulated device: emu:pmem, emu:bd@1/8, ...");
}

/// Reads the names of inputs from the file that --files0-from names.
std::vector<std::string> named_inputs(const std::string& from) {
  std::ifstream in(os::spelled_out(from, STDIN_FILENO), std::ios::binary);
  std::vector<std::string> names;
  for (std::string name; std::getline(in, name, '\0');) {
    if (name.empty()) fail("--files0-from " + from + ": a name is empty");
    if (name == "-" && from == "-") {
      fail("--files0-from -: standard input has the names: name another input than -");
    }
    names.push_back(name);
  }
  if (in.bad() || !in.eof()) {
    fail(base::system_error("--files0-from: cannot read " + from, errno).message);
  }
  if (names.empty()) fail("--files0-from " + from + ": it names no input");
  return names;
}

}  // namespace

void add_sort_arguments(command c, sort_arguments& a) {
  auto& o = a.options;
  c.free_short_help();
  c.add_words("inputs", a.inputs, "files to sort together; - or none: standard input");
  c.add("--files0-from", a.names,
        "file that names the inputs, each ended by a zero byte; - for "
        "standard input");
  c.add("-o,--output", a.output,
        "file to write, replaced only when the sort is complete, so that it may be an input; - for "
        "standard output");
  c.add_choice("--pack", o.packing,
               {sort_packing::automatic, sort_packing::none, sort_packing::gzip, sort_packing::zstd,
                sort_packing::lz4},
               "compression of the output; auto: by the suffix of its name, .gz, .zst or .lz4");
  c.add_switch("--no-unpack", a.as_it_is,
               "sort inputs that are compressed (gzip, zstd, lz4) as they are");
  add_order(c, a);
  add_selection(c, o);
  add_method_options(c, o);
  add_resources(c, a.resources, o);
  c.add_switch("--no-fsync", a.not_durable,
               "do not wait for the disk: after a crash of the system the output may be "
               "incomplete");
  c.add_switch(
      "--verify", o.check,
      "read the output again, whether it is in order, and the input, whether the output "
      "holds its records (with --unique or --top the order, with --count the sum of counts)");
  c.add_switch("-m,--merge", a.merge,
               "inputs are in order already: they are sorted all the same, to the same result");
  c.add_switch("-c,--check", a.check, {"diagnose-first", "quiet", "silent"},
               "do not sort: say where the input is out of order, with status 1; --check=quiet and "
               "--check=silent say nothing");
  c.add_switch("-C", a.check_silently, "the same as --check=quiet");
  const option plans =
      c.add_switch("--explain", a.explain,
                   "print what each algorithm would take on an emulated device, and do not sort");
  c.add("--json", a.json, "write a report to this file, - for standard output").excludes(plans);
  c.add_switch("--progress", a.progress, "show the stages even when standard error is no terminal");
}

void understand_order(sort_arguments& a) {
  auto& o = a.options;
  o.format = a.klv            ? record_format::klv
             : a.record_bytes ? record_format::fixed
                              : record_format::lines;
  o.record_bytes = a.record_bytes.value_or(o.record_bytes);
  understand_keys(a);
}

void understand(sort_arguments& a) {
  auto& o = a.options;
  understand_order(a);
  if (a.names && !a.inputs.empty()) refuse_words("--files0-from names the inputs: name no others");
  if (a.names) a.inputs = named_inputs(*a.names);
  if (a.inputs.empty()) a.inputs.emplace_back("-");
  if (!a.check.empty() && a.check != "diagnose-first") {
    a.check_silently = true;
  } else if (!a.check.empty() && a.check_silently) {
    refuse_words("-c and -C: choose one of them");
  }
  if (a.output.empty()) refuse_words("-o: name a file, or - for standard output");
  if (a.as_it_is) o.unpack = false;
  if (a.not_durable) o.durable = false;
  understand(a.resources, o);
}

}  // namespace isotherm::cli
