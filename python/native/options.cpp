#include "options.hpp"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "base/numbers.hpp"
#include "cli/sort/key_words.hpp"
#include "cli/sort/number_words.hpp"
#include "failure.hpp"

namespace isotherm::python {
namespace nb = nanobind;
namespace {

/// Options, and what becomes one of them together with others.
struct request {
  sort_options options;
  bool records = false;
  bool klv = false;
  std::vector<std::string> keys;
};

[[noreturn]] void refuse(std::string message) { throw failure{{std::move(message), 0}}; }

template <class Enum>
Enum one_of(nb::handle value, const std::vector<Enum>& all) {
  const auto word = nb::cast<std::string>(value);
  std::string names;
  for (const Enum each : all) {
    if (name(each) == word) return each;
    names += (names.empty() ? "" : ", ") + std::string(name(each));
  }
  refuse(fmt::format("'{}' is none of {}", word, names));
}

std::vector<std::string> words_of(nb::handle value) {
  if (nb::isinstance<nb::str>(value)) return {nb::cast<std::string>(value)};
  return nb::cast<std::vector<std::string>>(value);
}

std::string path_of(nb::handle value) {
  return nb::cast<std::string>(nb::module_::import_("os").attr("fsdecode")(value));
}

char character_of(nb::handle value) {
  const auto word = nb::cast<std::string>(value);
  if (word.size() != 1) refuse(fmt::format("separator: '{}' is not one character", word));
  return word[0];
}

using setter = void (*)(request& r, nb::handle value);

/// A setter that casts the value to the type of the member.
template <auto Member>
void set(request& r, nb::handle value) {
  auto& member = r.options.*Member;
  member = nb::cast<std::remove_reference_t<decltype(member)>>(value);
}

struct row {
  const char* name;
  setter apply;
};

constexpr row kRows[] = {
    {"record",
     [](request& r, nb::handle v) {
       r.records = true;
       set<&sort_options::record_bytes>(r, v);
     }},
    {"klv", [](request& r, nb::handle v) { r.klv = nb::cast<bool>(v); }},
    {"key", [](request& r, nb::handle v) { r.keys = words_of(v); }},
    {"key_size", set<&sort_options::key_bytes>},
    {"key_offset", set<&sort_options::key_offset>},
    {"separator", [](request& r, nb::handle v) { r.options.separator = character_of(v); }},
    {"zero_terminated",
     [](request& r, nb::handle v) { r.options.line_end = nb::cast<bool>(v) ? '\0' : '\n'; }},
    {"header", set<&sort_options::header_lines>},
    {"reverse", set<&sort_options::reverse>},
    {"stable", set<&sort_options::stable>},
    {"unique", set<&sort_options::unique>},
    {"top", set<&sort_options::top>},
    {"count", set<&sort_options::count>},
    {"seed", set<&sort_options::random_seed>},
    {"memory", [](request& r, nb::handle v) { r.options.memory_bytes = bytes_of(v); }},
    {"tmp", [](request& r, nb::handle v) { r.options.temporary_directory = path_of(v); }},
    {"device", [](request& r, nb::handle v) { r.options.device = path_of(v); }},
    {"algorithm",
     [](request& r, nb::handle v) { r.options.algorithm = one_of(v, sort_algorithms()); }},
    {"concurrency",
     [](request& r, nb::handle v) {
       using enum sort_concurrency;
       r.options.concurrency =
           one_of(v, std::vector{automatic, no_sync, io_overlap, no_io_overlap});
     }},
    {"compress",
     [](request& r, nb::handle v) {
       using enum sort_compression;
       r.options.compression = one_of(v, std::vector{automatic, on, off});
     }},
    {"pack",
     [](request& r, nb::handle v) {
       using enum sort_packing;
       r.options.packing = one_of(v, std::vector{automatic, none, gzip, zstd, lz4});
     }},
    {"unpack", set<&sort_options::unpack>},
    {"read_threads", set<&sort_options::read_threads>},
    {"write_threads", set<&sort_options::write_threads>},
    {"sort_threads", set<&sort_options::sort_threads>},
    {"fsync", set<&sort_options::durable>},
    {"verify", set<&sort_options::check>},
};

void apply(request& r, const std::string& option, nb::handle value) {
  for (const row& each : kRows) {
    if (option != each.name) continue;
    try {
      return each.apply(r, value);
    } catch (const nb::cast_error&) {
      throw nb::type_error(
          fmt::format("{}: {} does not fit", option, nb::cast<std::string>(nb::repr(value)))
              .c_str());
    }
  }
  throw nb::type_error(fmt::format("there is no option '{}'", option).c_str());
}

void understand_keys(request& r) {
  sort_options& o = r.options;
  if (r.records && r.keys.size() == 1) {
    o.number = value_of(cli::parse_number(r.keys.front()));
    o.key_bytes = o.number->bytes;
  } else {
    o.keys = value_of(cli::parse_keys(r.keys, {.reverse = o.reverse}));
  }
}

}  // namespace

std::uint64_t bytes_of(nb::handle value) {
  if (!nb::isinstance<nb::str>(value)) return nb::cast<std::uint64_t>(value);
  const auto word = nb::cast<std::string>(value);
  const auto bytes = base::parse_bytes(word);
  if (!bytes) refuse(fmt::format("'{}' is no number of bytes: write 500mb, 2gb or the like", word));
  return *bytes;
}

sort_options options_of(const nb::dict& given) {
  request r;
  for (const auto [option, value] : given) {
    if (!value.is_none()) apply(r, nb::cast<std::string>(option), value);
  }
  if (r.records && r.klv) refuse("record and klv: choose one of them");
  r.options.format = r.klv       ? record_format::klv
                     : r.records ? record_format::fixed
                                 : record_format::lines;
  understand_keys(r);
  return r.options;
}

}  // namespace isotherm::python
