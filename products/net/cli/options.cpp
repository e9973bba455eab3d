// SPDX-License-Identifier: BSD-3-Clause
#include "net/cli/options.hpp"

#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/try.hpp"
#include "cli/common.hpp"
#include "cli/values.hpp"
#include "net/model/generators.hpp"
#include "net/model/json_text.hpp"
#include "net/model/spanning_tree.hpp"
#include "net/model/topology_dot.hpp"
#include "net/model/topology_json.hpp"

namespace entrain::net {

using namespace cli;

namespace {

namespace fs = std::filesystem;

constexpr const char* k_schedule = "OPTIONS OF THE SCHEDULE";
constexpr std::uint64_t k_most_file_bytes = std::uint64_t{64} << 20;

Result<std::string> text_of(const std::string& path) {
  TRY_ASSIGN(const std::vector<std::uint8_t> bytes, read_file(path, k_most_file_bytes));
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

void ParameterOptions::declare(OptionSet& set) {
  std::string names;
  for (const Preset& known : presets())
    names += fmt::format("{}{}", names.empty() ? "" : "|", known.name);
  const auto take_preset = [](std::string_view text) -> Result<std::string> {
    TRY(preset(text));
    return std::string(text);
  };
  std::string help =
      "Network whose values the parameters (--ld to --flit-bytes) have if they are not given. Use "
      "the one nearest to your network, and check what it assumes. ";
  for (const Preset& known : presets())
    help += fmt::format("{}: {}. ", known.name, known.description);
  help += "Default: myrinet-1280.";
  set.group("OPTIONS OF THE NETWORK");
  set.value("--preset", preset_, take_preset, names, help);
  set.path("--parameters", file_, "FILE",
           "Take parameters from FILE, a JSON object with the names below, without leading "
           "dashes, and \"preset\". Use it when several runs need the same values. Default: "
           "none.");
  for (const ParameterName& parameter : parameter_names()) {
    const std::string name = parameter.name;
    set.value(
        "--" + name, "VALUE",
        [this, name](std::string_view text) -> Result<void> {
          values_[name] = text;
          return {};
        },
        fmt::format(
            "{}. Default: that of the preset.",
            static_cast<char>(std::toupper(parameter.help[0])) + std::string(parameter.help + 1)));
  }
}

Result<Parameters> ParameterOptions::get() const {
  std::map<std::string, std::string> values;
  std::string chosen = preset_.empty() ? presets().front().name : preset_;
  if (!file_.empty()) {
    TRY_ASSIGN(const std::string text, text_of(file_));
    TRY_ASSIGN(values, parameter_texts(text, file_));
    if (const auto found = values.find("preset"); found != values.end()) {
      if (const auto known = preset(found->second); !known)
        return fail(ErrorKind::input,
                    fmt::format("{}: preset '{}' {}", file_, found->second, known.error().message));
      if (preset_.empty()) chosen = found->second;
      values.erase(found);
    }
  }
  TRY_ASSIGN(const Parameters start, preset(chosen));
  auto from_file = with_values(start, values);
  // The values of the file may be valid only together with those of the options.
  for (const auto& [name, value] : values_) values[name] = value;
  auto all = with_values(start, values);
  if (!all && !from_file && !file_.empty())
    return fail(ErrorKind::input, fmt::format("{}: {}", file_, all.error().message));
  return all;
}

void TopologyArgument::declare(OptionSet& set) {
  set.argument("TOPOLOGY", name_,
               "A file (.json, or Graphviz .dot or .gv; docs/manual/net.md describes both), or "
               "single:N, tree:PORTSxLEVELS, fat-tree:PORTS, mesh:WxH, torus:WxH (x interfaces "
               "per switch), random:INTERFACESxSWITCHESxPORTS.");
  set.group(k_schedule);
  set.choice("--tree", given_tree_, {{"spanning", false}, {"given", true}},
             "spanning: packets take a spanning tree of least depth; the other links stay "
             "unused. given: the topology must be a tree. Use given to be sure that every link "
             "is used: a cycle is refused. Default: spanning.");
}

Result<Topology> TopologyArgument::get(std::uint64_t seed) const {
  const auto read = [&]() -> Result<Topology> {
    if (name_.find(':') != name_.npos && !file_exists(name_)) return generate(name_, seed);
    const std::string extension = fs::path(name_).extension().string();
    if (extension != ".json" && extension != ".dot" && extension != ".gv") {
      if (!file_exists(name_)) return generate(name_, seed);
      return fail(ErrorKind::usage,
                  fmt::format("{}: the name of a topology ends with .json, .dot or "
                              ".gv",
                              name_));
    }
    TRY_ASSIGN(const std::string text, text_of(name_));
    return extension == ".json" ? topology_from_json(text, name_) : topology_from_dot(text, name_);
  };
  auto topology = read();
  if (!topology || !given_tree_) return topology;
  const std::uint32_t link = find_cycle(*topology);
  if (link == k_none) return topology;
  return fail(ErrorKind::input,
              fmt::format("{}: the link of '{}' and '{}' closes a cycle; remove it, or let --tree "
                          "spanning choose",
                          name_, topology->nodes()[topology->links()[link].a].name,
                          topology->nodes()[topology->links()[link].b].name));
}

void add_method(OptionSet& set, std::optional<Method>& method) {
  set.group(k_schedule);
  set.choice(
      "--method", method,
      {{"auto", std::nullopt},
       {"sss", Method::sss},
       {"hss", Method::hss},
       {"joined", Method::joined},
       {"alternating", Method::alternating},
       {"doubling", Method::doubling}},
      "Method of planning. auto: plan with all, and take the plan that holds and has the least "
      "skew bound (of equal ones that with the fewest slots). sss: one building block pattern. "
      "Use it for one switch. hss: gather and distribute, level by level, as in the paper. "
      "joined: as hss, with steps that share slots and overlap. Use it on physical links. "
      "alternating: as joined. Use it in trees when the skew bound is too large; it takes twice "
      "the slots. doubling: as joined. Use it when the schedule must be short; its skew bound is "
      "larger. Default: auto.");
}

void add_drift(OptionSet& set, std::int64_t& drift_ppb) {
  set.group(k_schedule);
  set.value(
      "--drift", drift_ppb, [](std::string_view text) { return parse_drift_ppb(text); }, "DRIFT",
      "How much slower the slowest clock is than the fastest, as in 300ppm, 0 to "
      "10000ppm. Use it when you know your clocks; at twice the drift the schedule runs "
      "twice as often. Default: 300ppm.");
}

}  // namespace entrain::net
