// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/error.hpp>

#include "cli/help.hpp"

namespace CLI {
class Option;
}

namespace entrain::cli {

/// A declared option; lives as long as its OptionSet.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(option) {}
  /// The heading under which the help shows it, e.g. "OUTPUT OPTIONS".
  Option* group(const std::string& heading);
  /// A command line without it is refused.
  Option* required();

 private:
  CLI::Option& option_;
};

/// The options and arguments that a verb takes. It alone knows the library that parses them, which
/// is slow to compile. Targets must outlive it. One thread uses it.
class OptionSet {
 public:
  explicit OptionSet(const HelpText& help);
  ~OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  /// A required argument without a name on the command line, such as ARCHIVE; "" is refused.
  Option* argument(const std::string& name, std::string& target, const std::string& help);
  /// The same as argument(), once or more often.
  Option* arguments(const std::string& name, std::vector<std::string>& target,
                    const std::string& help);
  /// An option "-o,--output" that takes a path of type "DIR" or "FILE"; "" is refused. The last one
  /// counts if it is given more than once.
  Option* path(const std::string& names, std::string& target, const std::string& type,
               const std::string& help);
  /// An option without a value.
  Option* flag(const std::string& names, bool& target, const std::string& help);
  /// An option whose value goes to `store`; an error's message is the end of a sentence that begins
  /// with the option and the text, e.g. "is not a whole number". The last one counts.
  using Store = std::function<Result<void>(std::string_view)>;
  Option* value(const std::string& names, const std::string& type, Store store,
                const std::string& help);

  /// The same as value(), but every one counts if it is given more than once.
  Option* values(const std::string& names, const std::string& type, Store store,
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
  Option* own(CLI::Option& option);
  Option* own_path(CLI::Option& option);
  std::unique_ptr<Parser> parser_;
};

/// Adds an option `names` whose value goes through `parse`, a function from std::string_view to
/// Result<T>, into `target`. See OptionSet::value().
template <class T, class Parse>
Option* add_value(OptionSet& set, const std::string& names, T& target, Parse parse,
                  const char* type, const std::string& help) {
  return set.value(
      names, type,
      [&target, parse](std::string_view text) -> Result<void> {
        auto value = parse(text);
        if (!value) return tl::unexpected<Error>(std::move(value).error());
        target = *value;
        return {};
      },
      help);
}

}  // namespace entrain::cli
