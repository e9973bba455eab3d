// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "cli/help.hpp"

namespace CLI {
class Option;
}

namespace entrain::cli {

/// Words of an option, and what each stands for.
template <class T>
using Choices = std::vector<std::pair<const char*, T>>;

/// All values of an enumeration up to `last`, by their names.
template <class Enum>
Choices<Enum> named_up_to(Enum last) {
  Choices<Enum> choices;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    choices.emplace_back(name_of(static_cast<Enum>(i)), static_cast<Enum>(i));
  }
  return choices;
}

/// Accepts exactly one of a few words. Errors: ErrorKind::usage, the end of a sentence.
template <class T>
Result<T> parse_choice(std::string_view text, const Choices<T>& choices) {
  std::string names;
  for (const auto& choice : choices) {
    if (text == choice.first) return choice.second;
    const char* const gap = names.empty() ? "" : &choice == &choices.back() ? " or " : ", ";
    names += std::string(gap) + choice.first;
  }
  return fail(ErrorKind::usage, "is not " + names);
}

/// The options and arguments that a verb takes. It alone knows the library that parses them, which
/// is slow to compile. Targets must outlive it. One thread uses it.
class OptionSet {
 public:
  explicit OptionSet(const HelpText& help);
  ~OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  /// The heading under which the help shows the options that are declared from now on, e.g. "OUTPUT
  /// OPTIONS".
  void group(const std::string& heading);
  /// A required argument without a name on the command line, such as ARCHIVE; "" is refused.
  void argument(const std::string& name, std::string& target, const std::string& help);
  /// The same as argument(), once or more often.
  void arguments(const std::string& name, std::vector<std::string>& target,
                 const std::string& help);
  /// An option "-o,--output" that takes a path of type "DIR" or "FILE"; "" is refused. The last one
  /// counts if it is given more than once.
  void path(const std::string& names, std::string& target, const std::string& type,
            const std::string& help);
  /// The same as path(); a command line without it is refused.
  void required_path(const std::string& names, std::string& target, const std::string& type,
                     const std::string& help);
  /// An option without a value.
  void flag(const std::string& names, bool& target, const std::string& help);
  /// An option whose value goes to `store`; an error's message is the end of a sentence that begins
  /// with the option and the text, e.g. "is not a whole number". The last one counts.
  using Store = std::function<Result<void>(std::string_view)>;
  void value(const std::string& names, const std::string& type, Store store,
             const std::string& help);
  /// The same, with a value that goes through `take`, a function from std::string_view to Result,
  /// into `target`.
  template <class T, class Take>
  void value(const std::string& names, T& target, Take take, const std::string& type,
             const std::string& help);
  /// The same, with a value that is one of a few words.
  template <class T>
  void choice(const std::string& names, T& target, Choices<std::type_identity_t<T>> choices,
              const std::string& help);

  /// An option whose every value counts if it is given more than once.
  void values(const std::string& names, std::vector<std::string>& target, const std::string& type,
              const std::string& help);

  /// Called after all options were parsed, to refuse combinations. The error is a whole sentence.
  void after_parsing(std::function<Result<void>()> check);
  /// Arguments that no option takes are no mistake: rest() has them.
  void keep_rest();
  /// The same as keep_rest(), but the first argument that is no option ends the options, as in
  /// "record ./app -v".
  void keep_command();

  /// True if the command line has the option.
  [[nodiscard]] bool given(const std::string& name) const;
  /// Refuses a command line with any of these options: "--bounds is of no use here: ...". Errors:
  /// ErrorKind::usage with the name of the option and `why`.
  [[nodiscard]] Result<void> refuse(std::initializer_list<const char*> names,
                                    const std::string& why) const;
  /// The arguments that keep_rest() and keep_command() left over.
  [[nodiscard]] std::vector<std::string> rest() const;

  /// `argv[0]` is the verb. ErrorKind::usage with the beginning of a sentence.
  Result<void> parse(int argc, char** argv);
  /// True if the command line has a path that depends on the working folder.
  [[nodiscard]] bool has_relative_path() const;
  /// True if parse() met -h or --help.
  [[nodiscard]] bool asked_for_help() const;
  /// The manual page.
  [[nodiscard]] std::string help_page() const;

 private:
  struct Parser;
  CLI::Option& grouped(CLI::Option& option);
  CLI::Option& own_path(CLI::Option& option);
  std::unique_ptr<Parser> parser_;
};

template <class T, class Take>
void OptionSet::value(const std::string& names, T& target, Take take, const std::string& type,
                      const std::string& help) {
  const auto store = [&target, take](std::string_view text) -> Result<void> {
    auto taken = take(text);
    if (!taken) return tl::unexpected<Error>(std::move(taken).error());
    if constexpr (std::is_arithmetic_v<T>) {
      target = static_cast<T>(*taken);
    } else {
      target = *std::move(taken);
    }
    return {};
  };
  value(names, type, Store(store), help);
}

template <class T>
void OptionSet::choice(const std::string& names, T& target,
                       Choices<std::type_identity_t<T>> choices, const std::string& help) {
  std::string type;
  for (const auto& [name, meaning] : choices) type += (type.empty() ? "" : "|") + std::string(name);
  const auto take = [all = std::move(choices)](std::string_view text) {
    return parse_choice<T>(text, all);
  };
  value(names, target, take, type, help);
}

}  // namespace entrain::cli
