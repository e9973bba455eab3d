// SPDX-License-Identifier: BSD-3-Clause
#include "record/base/vt_settings.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "base/open_input.hpp"

namespace entrain::record {
namespace {

constexpr const char* k_config = "VT_CONFIG";
/// Directives that begin like this are those of clock synchronisation.
constexpr const char* k_family = "SYNC";

enum class Kind { count, duration, choice };

struct Directive {
  const char *name, *own;
  Kind kind;
};

constexpr std::array k_directives{
    Directive{"SYNC-MAX-MESSAGES", "ENTRAIN_SYNC_MAX_MESSAGES", Kind::count},
    Directive{"SYNC-MAX-DURATION", "ENTRAIN_SYNC_MAX_DURATION", Kind::duration},
    Directive{"SYNC-PERIOD", "ENTRAIN_SYNC_PERIOD", Kind::duration},
    Directive{"SYNCED-HOST", "ENTRAIN_SYNCED_HOST", Kind::choice},
    Directive{"SYNCED-CLUSTER", "ENTRAIN_SYNCED_CLUSTER", Kind::choice}};

std::string variable_of(const Directive& directive) {
  std::string name = std::string("VT_") + directive.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

/// The seconds of a text such as 1m+30s, or nothing.
std::optional<double> seconds_in(const std::string& text) {
  static const std::map<char, double> k_units{{'C', 1e-6}, {'L', 1e-3},  {'S', 1},     {'M', 60},
                                              {'H', 3600}, {'D', 86400}, {'W', 604800}};
  const std::string all = upper(text);
  double sum = 0;
  const char *at = all.data(), *const end = at + all.size();
  for (bool more = true; more;) {
    double number = 0;
    const auto [stop, error] = std::from_chars(at, end, number);
    if (error != std::errc()) return std::nullopt;
    at = stop;
    if (at != end && *at != '+') {
      const auto unit = k_units.find(*at++);
      if (unit == k_units.end()) return std::nullopt;
      number *= unit->second;
    }
    sum += number;
    more = at != end;
    if (more && *at++ != '+') return std::nullopt;
  }
  return sum;
}

/// The value in the words of the recorder. One that cannot be understood stays as it is, for
/// read_settings to complain.
std::string own_value(Kind kind, const std::string& text) {
  if (kind == Kind::count) return text;
  if (kind == Kind::duration) {
    const auto seconds = seconds_in(text);
    if (!seconds) return text;
    // A duration of nothing, or less, switches something off there and is the least one here.
    char number[32];
    std::snprintf(number, sizeof number, "%.12g", std::max(*seconds, 0.0));
    return number;
  }
  const std::string word = upper(text);
  if (word.empty() || word == "ON" || word == "TRUE" || word == "YES") return "yes";
  if (word == "OFF" || word == "FALSE" || word == "NO") return "no";
  return word == "AUTO" ? "auto" : text;
}

/// The fields of one line: blanks separate them, quotation marks keep them together.
std::array<std::string, 2> fields_of(const std::string& line) {
  std::array<std::string, 2> fields;
  std::size_t at = 0;
  for (std::string& field : fields) {
    const auto blank = [&] { return line[at] == ' ' || line[at] == '\t' || line[at] == '\r'; };
    while (at < line.size() && blank()) ++at;
    const bool quoted = at < line.size() && line[at] == '"';
    if (quoted) ++at;
    while (at < line.size() && (quoted ? line[at] != '"' : !blank())) field += line[at++];
    if (quoted && at < line.size()) ++at;
  }
  return fields;
}

/// Files of directives have some kilobytes: a larger one is something else.
constexpr std::uint64_t k_most_config = std::uint64_t{1} << 20;

/// Takes the text of a regular file; "", or why it cannot be read. A program must not wait for a
/// pipe or a device here.
std::string read_config(const std::string& path, std::string& text) {
  const OpenedInput input = open_input(path.c_str());
  if (input.descriptor < 0) {
    return input.error_number == 0 ? "it is no regular file" : std::strerror(input.error_number);
  }
  if (input.size > k_most_config) {
    ::close(input.descriptor);
    return "it has " + std::to_string(input.size) + " bytes, more than the " +
           std::to_string(k_most_config) + " of a file of directives";
  }
  const int error_number = read_and_close(input, text);
  return error_number == 0 ? "" : std::strerror(error_number);
}

/// Collects the recorder's variables.
class Translation {
 public:
  Translation(std::string variables, std::string& problem)
      : variables_(std::move(variables)), problem_(problem) {}

  /// Value of a variable, or nothing.
  [[nodiscard]] std::optional<std::string> value(const std::string& name) const {
    for (std::size_t at = 0; at < variables_.size();) {
      const std::string one = variables_.c_str() + at;
      at += one.size() + 1;
      if (one.starts_with(name + '=')) return one.substr(name.size() + 1);
    }
    return std::nullopt;
  }

  void read_environment() {
    for (const Directive& directive : k_directives) {
      const std::string name = variable_of(directive);
      if (const auto text = value(name)) take(directive, *text, name);
    }
  }

  void read_file(const std::string& path) {
    std::string all;
    if (const std::string why = read_config(path, all); !why.empty()) {
      complain(std::string("cannot read the file ") + path + " of " + k_config + ": " + why);
      return;
    }
    std::map<std::string, std::pair<std::string, std::string>> latest;  // the last line counts
    std::istringstream in(std::move(all));
    std::string line;
    for (std::uint64_t number = 1; std::getline(in, line); ++number) {
      const auto [name, text] = fields_of(line);
      const std::string directive = upper(name);
      if (!directive.starts_with(k_family)) continue;
      const std::string place = " in line " + std::to_string(number) + " of " + path;
      const bool known = std::any_of(k_directives.begin(), k_directives.end(),
                                     [&](const Directive& one) { return directive == one.name; });
      if (known) {
        latest[directive] = {text, directive + place};
      } else {
        complain(name + place + " is no directive that the recorder knows");
      }
    }
    for (const Directive& directive : k_directives) {
      const auto found = latest.find(directive.name);
      if (found != latest.end()) take(directive, found->second.first, found->second.second);
    }
  }

  [[nodiscard]] const std::string& variables() const { return variables_; }

 private:
  void take(const Directive& directive, const std::string& text, const std::string& origin) {
    // An empty variable is one that is not set, here as well.
    if (const auto own = value(directive.own); own && !own->empty()) return;
    add(directive.own, own_value(directive.kind, text));
    add(k_origin_mark + std::string(directive.own), origin);
  }
  void add(const std::string& name, const std::string& text) {
    variables_ += name + '=' + text.c_str() + '\0';  // a null in it would begin another variable
  }
  void complain(const std::string& clause) {
    if (!problem_.empty()) problem_ += '\0';  // no variable can hold one
    problem_ += clause;
  }

  std::string variables_;
  std::string& problem_;
};

}  // namespace

bool is_vt_variable(const std::string& variable) {
  const std::string name = variable.substr(0, variable.find('='));
  return name == k_config ||
         std::any_of(k_directives.begin(), k_directives.end(),
                     [&](const Directive& directive) { return name == variable_of(directive); });
}

std::string with_vt_settings(const std::string& variables, std::string& problem) {
  Translation translation(variables, problem);
  translation.read_environment();
  if (const auto path = translation.value(k_config); path && !path->empty()) {
    translation.read_file(*path);
  }
  return translation.variables();
}

}  // namespace entrain::record
