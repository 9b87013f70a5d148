#include "cli/sort/arguments.hpp"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>

#include "cli/choice.hpp"
#include "cli/fail.hpp"
#include "cli/sort/text.hpp"
#include "os/files/file_system.hpp"

namespace isotherm::cli {
namespace {

void add_format_options(CLI::App& c, sort_arguments& a) {
  auto& o = a.options;
  auto* record =
      c.add_option("--record", o.record_bytes, "bytes of a record")->capture_default_str();
  auto* key = c.add_option("--key-size", o.key_bytes, "bytes of the key")->capture_default_str();
  auto* offset = c.add_option("--key-offset", o.key_offset, "where the key begins in the record");
  auto* klv = c.add_flag("--klv", a.klv, "records are key, 4-byte little-endian length, value");
  auto* lines = c.add_flag("--lines", a.lines, "records are lines, ordered as LC_ALL=C sort does");
  klv->excludes(lines)->excludes(record)->excludes(offset);
  lines->excludes(record)->excludes(key)->excludes(offset);
  c.add_option("-t,--separator", a.separator, "lines: character between fields; a tab if not given")
      ->needs(lines);
  c.add_option("-k,--field", o.field, "lines: the key is this field (from 1) and all behind it")
      ->check(whole_number(1, std::numeric_limits<unsigned>::max()))
      ->needs(lines);
  c.add_flag("-r,--reverse", o.reverse, "largest key first");
  c.add_flag("-s,--stable", o.stable, "equal keys keep their order (records always do)");
  c.add_flag("-u,--unique", o.unique, "of equal keys keep the first");
  c.add_option("--top", o.top, "write only the first N records of the order")
      ->check(whole_number(1));
  c.add_flag("--count", o.count,
             "write each key once with the number of its records: key and 8-byte little-endian "
             "count; for lines count, tab, key");
}

/// How to sort, and with what.
void add_method_options(CLI::App& c, sort_options& o, std::string& memory) {
  add_choice(c, "--algorithm", o.algorithm, sort_algorithms(), "how to sort");
  add_choice(c, "--concurrency", o.concurrency,
             {sort_concurrency::automatic, sort_concurrency::no_sync, sort_concurrency::io_overlap,
              sort_concurrency::no_io_overlap},
             "what may run beside what");
  add_choice(c, "--compress", o.compression,
             {sort_compression::automatic, sort_compression::on, sort_compression::off},
             "whether runs of an index map are compressed; auto: on an emulated device, when it "
             "pays");
  c.add_option("--memory", memory,
               "limit of resident memory, such as 512M; half of what is "
               "available if not given");
  c.add_option("--tmp", o.temporary_directory, "directory for runs; the output's if not given");
  c.add_option("--device", o.device,
               "profile of `device probe`, or an emulated device: emu:pmem, "
               "emu:bd@1/8, ...");
  c.add_option("--read-threads", o.read_threads, "threads that read; the device decides");
  c.add_option("--write-threads", o.write_threads, "threads that write; the device decides");
  c.add_option("--sort-threads", o.sort_threads, "threads that sort");
}

}  // namespace

void add_sort_arguments(CLI::App& c, sort_arguments& a) {
  auto& o = a.options;
  c.add_option("input", a.input, "file to sort, - for standard input")->required();
  c.add_option("output", a.output,
               "file to write, replaced only when the sort is complete; - for standard output");
  add_format_options(c, a);
  add_method_options(c, o, a.memory);
  c.add_flag(
      "--no-fsync", [&o](std::int64_t) { o.durable = false; },
      "do not wait for the disk: after a crash of the system the output may be incomplete");
  c.add_flag(
      "--check", o.check,
      "read the output again, whether it is in order, and the input, whether the output "
      "holds its records (with --unique or --top the order, with --count the sum of counts)");
  auto* plans =
      c.add_flag("--explain", a.explain,
                 "print what each algorithm would take on an emulated device, and do not sort");
  c.add_option("--json", a.json, "write a report to this file, - for standard output")
      ->excludes(plans);
  c.add_flag("--progress", a.progress, "show the stages even when standard error is no terminal");
}

void understand(sort_arguments& a) {
  auto& o = a.options;
  if (a.klv) o.format = record_format::klv;
  if (a.lines) o.format = record_format::lines;
  if (!a.memory.empty()) o.memory_bytes = parse_size(a.memory);
  if (!a.memory.empty() && o.memory_bytes == 0)
    refuse_words("--memory 0 is too little: 32M will do");
  if (!o.temporary_directory.empty()) {
    if (auto r = os::check_writable(o.temporary_directory); !r) fail("--tmp: " + r.error().message);
  }
  if (a.separator.size() != 1) refuse_words("-t: give one character between fields");
  o.separator = a.separator[0];
}

}  // namespace isotherm::cli
