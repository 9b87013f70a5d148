// The command line of the tool, over CLI11. command.cpp alone includes CLI11, which takes longer to
// compile than all that a subcommand does besides.
//
// Numbers are decimal, and finite. A value that does not fit ends the tool with one line that says
// what would, and exit status 2.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace isotherm::cli {

/// A flag or an argument of a command, while the command is described. The command owns it.
class option {
 public:
  explicit option(CLI::Option* described) : described_(described) {}

  /// The command is refused without it.
  option& required();
  /// Names its value in the help, as in "--window SECONDS".
  option& value_name(const std::string& name);
  /// Keeps the value that the variable holds out of the help.
  option& hide_default();
  /// The command is refused with both, or with this one alone.
  option& excludes(const option& other);
  option& needs(const option& other);

 private:
  CLI::Option* described_;
};

/// A subcommand, while it is described. Flags and arguments are read into variables that outlive
/// the parsing; what a variable holds before is the default.
class command {
 public:
  explicit command(CLI::App* described) : described_(described) {}

  /// The one of that name; a new one where there is none yet.
  command subcommand(const std::string& name, const std::string& summary) const;
  /// The command does nothing itself.
  void require_subcommand() const;
  /// Text under the help.
  void footer(const std::string& text) const;
  /// Heading in the help of the flags that follow.
  void group(const std::string& heading) const;
  /// A flag that is given twice counts the last time; otherwise it is refused.
  void let_last_flag_count() const;
  /// Leaves -h to the command's own flags: its help is --help alone.
  void free_short_help() const;
  /// Called when the line was read; fail() and the like end the tool from there.
  void action(std::function<void()> run) const;
  bool was_given(const std::string& flag) const;
  /// Whether any flag under this heading was.
  bool was_given_under(const std::string& heading) const;

  // `names`: "--record", "-k,--field", or for an argument "input".
  option add(const std::string& names, std::string& value, const std::string& help) const;
  option add(const std::string& names, std::optional<std::string>& value,
             const std::string& help) const;
  /// Several words, or parts of a word between commas.
  option add(const std::string& names, std::vector<std::string>& value,
             const std::string& help) const;
  /// All words that no flag takes, in their order, as they are: names of files.
  option add_words(const std::string& name, std::vector<std::string>& value,
                   const std::string& help) const;
  /// A flag that may come several times, each time with one word.
  option add_each(const std::string& names, std::vector<std::string>& value,
                  const std::string& help) const;
  /// A number from `least` to `most`.
  option add(const std::string& names, double& value, const std::string& help,
             double least = std::numeric_limits<double>::lowest(),
             double most = std::numeric_limits<double>::max()) const;
  /// A whole number from `least` to `most`.
  template <std::integral Number>
    requires(!std::same_as<Number, bool>)
  option add(const std::string& names, Number& value, const std::string& help,
             Number least = std::numeric_limits<Number>::min(),
             Number most = std::numeric_limits<Number>::max()) const {
    return add_whole(names, help, std::to_string(value), range_of(least, most),
                     [&value](std::uint64_t given) { value = static_cast<Number>(given); });
  }
  template <std::integral Number>
  option add(const std::string& names, std::optional<Number>& value,
             const std::string& help) const {
    constexpr auto kRange =
        range_of(std::numeric_limits<Number>::min(), std::numeric_limits<Number>::max());
    return add_whole(names, help, "", kRange,
                     [&value](std::uint64_t given) { value = static_cast<Number>(given); });
  }
  /// A value that `set` understands, or says in one line why not.
  option add(const std::string& names, std::function<base::result<void>(const std::string&)> set,
             const std::string& shown_default, const std::string& help) const;
  /// One of the words that name() has for `values`.
  template <class Enum>
    requires std::is_enum_v<Enum>
  option add_choice(const std::string& names, Enum& value, const std::vector<Enum>& values,
                    const std::string& help) const {
    std::vector<std::string> words;
    words.reserve(values.size());
    for (const Enum each : values) words.emplace_back(name(each));
    return add_choice(names, words, std::string(name(value)), help,
                      [&value, values](std::size_t index) { value = values[index]; });
  }
  option add_choice(const std::string& names, std::string& value,
                    const std::vector<std::string>& words, const std::string& help) const;
  /// A flag without a value that calls `set`.
  option add_action(const std::string& names, std::function<void()> set,
                    const std::string& help) const;
  /// A flag without a value.
  option add_switch(const std::string& names, bool& value, const std::string& help) const;
  /// A flag that may name one of `words` behind an equals sign: --flag is --flag=FIRST. Without it
  /// `value` stays empty.
  option add_switch(const std::string& names, std::string& value,
                    const std::vector<std::string>& words, const std::string& help) const;

 private:
  struct range {
    std::int64_t least;
    std::uint64_t most;
  };
  template <class Number>
  static constexpr range range_of(Number least, Number most) {
    return {static_cast<std::int64_t>(least), static_cast<std::uint64_t>(most)};
  }
  option add_whole(const std::string& names, const std::string& help,
                   const std::string& shown_default, range allowed,
                   std::function<void(std::uint64_t)> set) const;
  option add_choice(const std::string& names, const std::vector<std::string>& words,
                    const std::string& shown_default, const std::string& help,
                    std::function<void(std::size_t)> set) const;

  CLI::App* described_;
};

/// The whole command line.
class program {
 public:
  program(const std::string& name, const std::string& summary, const std::string& version);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  command root() const { return command(described_.get()); }
  /// Reads the words and runs the subcommand that they name. Returns the exit status: 0, also after
  /// a help text, or 2 after a line that says what is wrong with the words.
  int run(int count, const char* const* words) const;

 private:
  std::unique_ptr<CLI::App> described_;
};

}  // namespace isotherm::cli
