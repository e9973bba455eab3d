// SPDX-License-Identifier: BSD-3-Clause
#include "cli/option_set.hpp"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/names.hpp"
#include "base/try.hpp"

namespace entrain::cli {
namespace {

constexpr const char* k_help_group = "GENERAL OPTIONS";

std::string reject_empty(const std::string& value) {
  return value.empty() ? "nothing is given" : "";
}

/// Hands the page that this project writes to the library, which asks for one.
class Formatter : public CLI::FormatterBase {
 public:
  Formatter(const HelpText& help, const bool& all) : help_(help), all_(all) {}
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    std::vector<OptionHelp> options;
    for (const std::string& group : app->get_groups()) {
      for (const CLI::Option* option : app->get_options()) {
        if (option->get_group() == group) {
          options.push_back(
              {group, option->get_name(), signature(*option), option->get_description()});
        }
      }
    }
    return all_ ? manual_page(help_, options) : short_page(help_, options);
  }

 private:
  /// "-o, --output DIR".
  static std::string signature(const CLI::Option& option) {
    if (option.get_positional()) return option.get_name(true);
    std::string names = option.get_name(false, true);
    for (std::size_t at = 0; (at = names.find(',', at)) != std::string::npos; at += 2)
      names.insert(at + 1, 1, ' ');
    const bool takes_value = option.get_items_expected_max() > 0 && option.get_type_size() > 0;
    return takes_value ? names + " " + option.get_type_name() : names;
  }

  const HelpText& help_;
  const bool& all_;
};

}  // namespace

struct OptionSet::Parser {
  explicit Parser(const HelpText& help) : app(help.summary, "entrain " + help.verb) {
    app.formatter(std::make_shared<Formatter>(help, all_wanted));
  }

  /// The arguments left over, a mistyped option before the values that it left over.
  [[nodiscard]] std::string leftover() const {
    const std::vector<std::string> left = app.remaining();
    const auto option =
        std::ranges::find_if(left, [](const std::string& text) { return text.starts_with('-'); });
    if (option != left.end())
      return fmt::format("'{}' is not an option{}", *option, meant(*option));
    return fmt::format("'{}' is one argument too many", left.empty() ? "" : left.front());
  }

  /// "; did you mean --bounds?", or "" where no option is similar.
  [[nodiscard]] std::string meant(const std::string& typed) const {
    std::vector<std::string> names;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    const std::string name = most_similar(typed.substr(0, typed.find('=')), names);
    return name.empty() ? "" : fmt::format("; did you mean {}?", name);
  }

  /// The meaning of a parse error, as the beginning of a sentence. The library's own texts have the
  /// option first, then a colon.
  [[nodiscard]] std::string reason_of(const CLI::ParseError& error) const {
    const std::string text = error.what();
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) return leftover();
    if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
      if (text.find("override") != std::string::npos)
        return fmt::format("option '{}' takes no value", text.substr(0, text.find(' ')));
      return text.substr(0, text.find(':')) + " needs a value";
    }
    return text;
  }

  /// The option that is given as "--name=", without a value; the library would take the next word.
  /// "" if there is none.
  [[nodiscard]] std::string without_value(std::span<char* const> words) const {
    for (const std::string_view word : words) {
      if (word == "--") break;
      if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
      std::string name(word.substr(0, word.size() - 1));
      if (app.get_option_no_throw(name) != nullptr) return name;
    }
    return "";
  }

  CLI::App app;
  std::string group;                      ///< heading of the options that come next
  std::vector<const CLI::Option*> paths;  ///< those of the options that take paths
  bool help_wanted = false;
  bool all_wanted = false;  ///< the help on all options
};

OptionSet::OptionSet(const HelpText& help) : parser_(std::make_unique<Parser>(help)) {}
OptionSet::~OptionSet() = default;

void OptionSet::group(const std::string& heading) { parser_->group = heading; }

CLI::Option& OptionSet::grouped(CLI::Option& option) { return *option.group(parser_->group); }

CLI::Option& OptionSet::own_path(CLI::Option& option) {
  parser_->paths.push_back(&option);
  return *option.check(reject_empty);
}

void OptionSet::argument(const std::string& name, std::string& target, const std::string& help) {
  own_path(*parser_->app.add_option(name, target, help)).required()->group("ARGUMENTS");
}

void OptionSet::arguments(const std::string& name, std::vector<std::string>& target,
                          const std::string& help) {
  own_path(*parser_->app.add_option(name, target, help)).required()->group("ARGUMENTS");
}

void OptionSet::path(const std::string& names, std::string& target, const std::string& type,
                     const std::string& help) {
  own_path(grouped(*parser_->app.add_option(names, target, help)))
      .type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void OptionSet::required_path(const std::string& names, std::string& target,
                              const std::string& type, const std::string& help) {
  path(names, target, type, help);
  parser_->app.get_options().back()->required();
}

void OptionSet::flag(const std::string& names, bool& target, const std::string& help) {
  grouped(*parser_->app.add_flag(names, target, help)).disable_flag_override();
}

void OptionSet::value(const std::string& names, const std::string& type, Store store,
                      const std::string& help) {
  const auto parse = [store = std::move(store),
                      name = names.substr(names.find("--"))](const std::string& text) {
    if (const auto stored = store(text); !stored)
      throw CLI::ValidationError(fmt::format("{} '{}' {}", name, text, stored.error().message));
  };
  grouped(*parser_->app.add_option_function<std::string>(names, parse, help))
      .type_name(type)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

void OptionSet::values(const std::string& names, std::vector<std::string>& target,
                       const std::string& type, const std::string& help) {
  grouped(*parser_->app.add_option(names, target, help)).type_name(type)->allow_extra_args(false);
}

void OptionSet::after_parsing(std::function<Result<void>()> check) {
  parser_->app.callback([check = std::move(check)] {
    if (const auto checked = check(); !checked) {
      throw CLI::ValidationError(checked.error().message);
    }
  });
}

void OptionSet::keep_rest() { parser_->app.allow_extras(); }
void OptionSet::keep_command() { parser_->app.prefix_command(); }

bool OptionSet::given(const std::string& name) const { return parser_->app.count(name) > 0; }

Result<void> OptionSet::refuse(std::initializer_list<const char*> names,
                               const std::string& why) const {
  for (const char* const name : names) {
    if (given(name)) return usage_error("{} {}", name, why);
  }
  return {};
}

std::vector<std::string> OptionSet::rest() const { return parser_->app.remaining(); }

Result<void> OptionSet::parse(int argc, char** argv) {
  // Declared last, so that the page shows it last.
  parser_->app.set_help_flag("-h,--help", "Show the options used most.")->group(k_help_group);
  parser_->app.set_help_all_flag("--help-all", "Show all options, as a manual page.")
      ->group(k_help_group);
  const std::string empty = parser_->without_value({argv, static_cast<std::size_t>(argc)});
  if (!empty.empty()) return fail(ErrorKind::usage, empty + " needs a value");
  try {
    parser_->app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    parser_->help_wanted = true;
  } catch (const CLI::CallForAllHelp&) {
    parser_->help_wanted = parser_->all_wanted = true;
  } catch (const CLI::ParseError& error) {
    return fail(ErrorKind::usage, parser_->reason_of(error));
  }
  return {};
}

bool OptionSet::has_relative_path() const {
  const auto is_relative = [](const std::string& path) { return !path.starts_with('/'); };
  return std::ranges::any_of(parser_->paths, [&](const CLI::Option* option) {
    const std::vector<std::string> given = option->results();
    return std::ranges::any_of(given, is_relative);
  });
}

bool OptionSet::asked_for_help() const { return parser_->help_wanted; }
std::string OptionSet::help_page() const { return parser_->app.help(); }

}  // namespace entrain::cli
