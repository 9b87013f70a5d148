#include "cli/sort/keys.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/fail.hpp"
#include "cli/sort/column_words.hpp"
#include "cli/sort/key_words.hpp"
#include "cli/sort/number_words.hpp"

namespace isotherm::cli {
namespace {

base::result<void> take_separator(const std::string& word, sort_options& o) {
  if (word != "\\t" && word != "\\0" && word.size() != 1) {
    return std::unexpected(base::error{"-t: give one character between fields", 0});
  }
  o.separator = word == "\\t" ? '\t' : word == "\\0" ? '\0' : word[0];
  return {};
}

struct kind_word {
  const char* word;
  char letter;
};
constexpr kind_word kKindWords[] = {{"general-numeric", 'g'}, {"human-numeric", 'h'},
                                    {"month", 'M'},           {"numeric", 'n'},
                                    {"random", 'R'},          {"version", 'V'}};

/// Reads the seed of a random order from the front of `file`. A file that is too short fails the
/// command.
std::uint64_t seed_in(const std::string& file) {
  std::uint64_t seed = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(base::system_error("--random-source: cannot read " + file, errno).message);
  if (!in.read(reinterpret_cast<char*>(&seed), sizeof seed)) {
    fail("--random-source " + file + ": a random order takes 8 bytes: name a longer file");
  }
  return seed;
}

}  // namespace

void add_key_flags(command c, sort_arguments& a) {
  c.add_each("-k,--key", a.keys,
             "lines: key from field F (from 1), character C, to the end of another or of the line, "
             "and letters of the flags below for this key alone; may be given several times; "
             "records: a number, as u64,le or f32,be; CSV: a column, its number with letters, or "
             "its name with letters behind a colon")
      .value_name("F[.C][OPTS][,F[.C][OPTS]]");
  c.add_switch("--csv", a.options.csv,
               "lines: they are rows of CSV, in which text between double quotes may hold commas "
               "and line ends; a name given by -k makes the first row a header");
  c.add(
       "-t,--field-separator",
       [&o = a.options](const std::string& word) { return take_separator(word, o); }, "",
       "lines: character between fields, \\t or \\0; if not given, fields begin with blanks, and "
       "columns of CSV with commas")
      .value_name("CHARACTER");
  for (const auto& [names, help] : {
           std::pair{"-n,--numeric-sort", "keys are decimal numbers of any length"},
           {"-g,--general-numeric-sort", "keys are floating-point numbers"},
           {"-h,--human-numeric-sort", "keys are numbers with units: 2K, 1.5G"},
           {"-V,--version-sort", "numbers in keys count by their values"},
           {"-M,--month-sort", "keys are months: JAN to DEC"},
           {"-R,--random-sort", "keys are in random order, equal ones together"},
           {"-r,--reverse", "largest key first"},
           {"-b,--ignore-leading-blanks", "characters of a key count from the first non-blank"},
           {"-d,--dictionary-order", "only blanks, letters and digits count"},
           {"-f,--ignore-case", "lower-case letters count as upper-case ones"},
           {"-i,--ignore-nonprinting", "only characters that print count"},
       }) {
    c.add_action(names, [&a, letter = names[1]] { a.key_letters += letter; }, help);
  }
  std::vector<std::string> words;
  for (const kind_word& each : kKindWords) words.emplace_back(each.word);
  c.add_choice("--sort", a.kind, words, "order of the keys: the flag of that name");
  c.add("--random-source", a.random_source,
        "file whose first 8 bytes choose the random order, so that it can be made again")
      .value_name("FILE");
}

void understand_keys(sort_arguments& a) {
  auto& o = a.options;
  if (a.zero_terminated) o.line_end = '\0';
  sort_key all;
  for (const kind_word& each : kKindWords) {
    if (a.kind == each.word) a.key_letters += each.letter;
  }
  std::string_view letters = a.key_letters;
  if (const auto r = take_options(letters, all, place::begin); !r) refuse_words(r.error().message);
  all.end_skips_blanks = all.skips_blanks;
  o.reverse = all.reverse;
  if (a.record_bytes && a.keys.size() == 1) {
    const auto number = parse_number(a.keys.front());
    if (!number) refuse_words(number.error().message);
    if (o.key_bytes != sort_options{}.key_bytes && o.key_bytes != number->bytes) {
      refuse_words("--key-size is not the size of the number that -k names: leave it out");
    }
    o.number = *number;
    o.key_bytes = number->bytes;
    a.keys.clear();
  }
  auto keys = o.csv ? parse_columns(a.keys, all) : parse_keys(a.keys, all);
  if (!keys) refuse_words(keys.error().message);
  o.keys = std::move(*keys);
  const auto is_named = [](const sort_key& k) { return !k.column.empty(); };
  if (o.header_lines == 0 && std::ranges::any_of(o.keys, is_named)) o.header_lines = 1;
  o.random_seed = a.random_source
                      ? seed_in(*a.random_source)
                      : std::random_device()() | std::uint64_t{std::random_device()()} << 32;
}

}  // namespace isotherm::cli
