#include "cli/parser/command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <span>
#include <utility>

#include "base/numbers.hpp"

namespace isotherm::cli {
namespace {

constexpr int kUsage = 2;  // exit status of a mistake in the command line

/// "--field" of "-k,--field".
std::string long_name(const std::string& names) { return names.substr(names.rfind(',') + 1); }

[[noreturn]] void refuse(const std::string& names, const std::string& given,
                         const std::string& wanted) {
  throw CLI::ValidationError(long_name(names), fmt::format("'{}' is {}", given, wanted));
}

/// Reads one value; `set` returns false for one that is not `wanted`.
CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& help,
                       const std::string& shown_default, const std::string& wanted,
                       std::function<bool(const std::string&)> set) {
  auto* const added = app.add_option_function<std::string>(
      names,
      [names, wanted, set = std::move(set)](const std::string& given) {
        if (!set(given)) refuse(names, given, wanted);
      },
      help);
  return added->default_str(shown_default);
}

}  // namespace

option& option::required() { return described_->required(), *this; }
option& option::value_name(const std::string& name) { return described_->type_name(name), *this; }
option& option::hide_default() { return described_->default_str(""), *this; }
option& option::excludes(const option& other) {
  return described_->excludes(other.described_), *this;
}
option& option::needs(const option& other) { return described_->needs(other.described_), *this; }

command command::subcommand(const std::string& name, const std::string& summary) const {
  const auto known = described_->get_subcommands(
      [&name](const CLI::App* each) { return each->get_name() == name; });
  if (!known.empty()) return command(known.front());
  return command(described_->add_subcommand(name, summary));
}
void command::require_subcommand() const { described_->require_subcommand(1); }
void command::footer(const std::string& text) const { described_->footer(text); }
void command::group(const std::string& heading) const {
  described_->option_defaults()->group(heading);
}
void command::let_last_flag_count() const {
  described_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}
void command::free_short_help() const {
  // A copy: the old flag goes before the new one is made.
  const std::string help = described_->get_help_ptr()->get_description();
  described_->set_help_flag("--help", help);
}
void command::action(std::function<void()> run) const { described_->callback(std::move(run)); }
bool command::was_given(const std::string& flag) const { return described_->count(flag) > 0; }
bool command::was_given_under(const std::string& heading) const {
  return std::ranges::any_of(described_->get_options(), [&](const CLI::Option* each) {
    return each->get_group() == heading && each->count() > 0;
  });
}

option command::add(const std::string& names, std::string& value, const std::string& help) const {
  return option(described_->add_option(names, value, help)->capture_default_str());
}

option command::add(const std::string& names, std::optional<std::string>& value,
                    const std::string& help) const {
  return option(described_->add_option(names, value, help));
}

option command::add(const std::string& names, std::vector<std::string>& value,
                    const std::string& help) const {
  return option(described_->add_option(names, value, help)->delimiter(',')->capture_default_str());
}

option command::add_words(const std::string& name, std::vector<std::string>& value,
                          const std::string& help) const {
  return option(described_->add_option(name, value, help)->type_name("FILE"));
}

option command::add_each(const std::string& names, std::vector<std::string>& value,
                         const std::string& help) const {
  return option(described_->add_option(names, value, help)->allow_extra_args(false));
}

option command::add(const std::string& names, double& value, const std::string& help, double least,
                    double most) const {
  const bool is_bounded = least > std::numeric_limits<double>::lowest();
  const auto wanted =
      is_bounded ? fmt::format("no number from {} to {}", least, most) : "no number";
  return option(add_value(*described_, names, help, fmt::format("{}", value), wanted,
                          [&value, least, most](const std::string& text) {
                            const auto number = base::parse_number<double>(text);
                            if (!number || *number < least || *number > most) return false;
                            value = *number;
                            return true;
                          }))
      .value_name("NUMBER");
}

option command::add(const std::string& names,
                    std::function<base::result<void>(const std::string&)> set,
                    const std::string& shown_default, const std::string& help) const {
  const auto read = [set = std::move(set)](const std::string& text) {
    if (const auto done = set(text); !done) throw CLI::ValidationError(done.error().message);
  };
  return option(
      described_->add_option_function<std::string>(names, read, help)->default_str(shown_default));
}

option command::add_choice(const std::string& names, std::string& value,
                           const std::vector<std::string>& words, const std::string& help) const {
  return add_choice(names, words, value, help,
                    [&value, words](std::size_t index) { value = words[index]; });
}

option command::add_switch(const std::string& names, bool& value, const std::string& help) const {
  return option(described_->add_flag(names, value, help));
}

option command::add_switch(const std::string& names, std::string& value,
                           const std::vector<std::string>& words, const std::string& help) const {
  static constexpr std::string_view kBare = "true";  // the library's word for a flag alone
  const auto read = [words](std::string& given) -> std::string {
    if (given == kBare) given = words.front();
    const bool known = std::ranges::find(words, given) != words.end();
    return known ? "" : fmt::format("'{}' is not one of {}", given, fmt::join(words, ", "));
  };
  auto* const added = described_->add_flag(names, value, help);
  added->transform(CLI::Validator(read, ""))->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  return option(added);
}

option command::add_action(const std::string& names, std::function<void()> set,
                           const std::string& help) const {
  return option(described_->add_flag_callback(names, std::move(set), help));
}

option command::add_whole(const std::string& names, const std::string& help,
                          const std::string& shown_default, range allowed,
                          std::function<void(std::uint64_t)> set) const {
  auto wanted = fmt::format("no whole number from {}", allowed.least);
  constexpr auto kAnyPositive =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (allowed.most < kAnyPositive) {
    wanted += fmt::format(" to {}", allowed.most);
  }
  const auto read = [allowed, set = std::move(set)](const std::string& text) {
    // A number that is not negative may be larger than the largest that has a sign.
    if (const auto number = base::parse_number<std::uint64_t>(text, 0, allowed.most)) {
      if (allowed.least > 0 && *number < static_cast<std::uint64_t>(allowed.least)) return false;
      return set(*number), true;
    }
    const auto negative = base::parse_number<std::int64_t>(text, allowed.least, -1);
    if (negative) set(static_cast<std::uint64_t>(*negative));
    return negative.has_value();
  };
  return option(add_value(*described_, names, help, shown_default, wanted, read)).value_name("N");
}

option command::add_choice(const std::string& names, const std::vector<std::string>& words,
                           const std::string& shown_default, const std::string& help,
                           std::function<void(std::size_t)> set) const {
  const auto list = fmt::format("{}", fmt::join(words, ", "));
  const auto read = [words, set = std::move(set)](const std::string& text) {
    const auto found = std::ranges::find(words, text);
    if (found == words.end()) return false;
    return set(static_cast<std::size_t>(found - words.begin())), true;
  };
  return option(add_value(*described_, names, help, shown_default, "not one of " + list, read))
      .value_name(fmt::format("{}", fmt::join(words, "|")));
}

/// Returns the text of a mistake. A flag that is not known is named alone: words behind it, which
/// the parser does not expect either, may have been meant as its value.
static std::string text_of(const CLI::Error& mistake, const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  const auto flag = std::ranges::find_if(left, [](const std::string& word) {
    return word.starts_with('-') && word.size() > 1 && word != "--";
  });
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&mistake) != nullptr;
  return is_extra && flag != left.end() ? "there is no flag " + flag->substr(0, flag->find('='))
                                        : mistake.what();
}

program::program(const std::string& name, const std::string& summary, const std::string& version)
    : described_(std::make_unique<CLI::App>(summary, name)) {
  described_->require_subcommand(1);
  described_->set_version_flag("--version", version);
  described_->failure_message([name](const CLI::App* app, const CLI::Error& mistake) {
    return fmt::format("{}: {}; see --help\n", name, text_of(mistake, *app));
  });
}

program::~program() = default;

/// The words behind the program's name. An address as -::1 is a value, but begins as a flag does:
/// it goes to the word before it, which is an address too, or the flag.
static std::vector<std::string> join_addresses(std::span<const char* const> words) {
  std::vector<std::string> joined;
  for (const std::string word : words) {
    const bool is_address = word.starts_with("-:") || word.starts_with("-*");
    if (!is_address || joined.empty()) {
      joined.push_back(word);
    } else {
      const bool is_bare_flag = joined.back().starts_with("--") && !joined.back().contains('=');
      joined.back() += (is_bare_flag ? "=" : ",") + word;
    }
  }
  return joined;
}

int program::run(int count, const char* const* words) const {
  try {
    const auto all = static_cast<std::size_t>(count);  // 0 where the caller gave no name either
    auto behind_name = join_addresses(std::span(words, all).subspan(std::min<std::size_t>(all, 1)));
    std::ranges::reverse(behind_name);  // CLI11 takes them from the back
    described_->parse(std::move(behind_name));
    return 0;
  } catch (const CLI::Error& ended) {
    return described_->exit(ended) == 0 ? 0 : kUsage;
  }
}

}  // namespace isotherm::cli
