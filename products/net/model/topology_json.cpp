// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/topology_json.hpp"

#include <algorithm>
#include <initializer_list>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "net/model/json_text.hpp"

namespace entrain::net {
namespace {

using Json = nlohmann::json;

class JsonReader {
 public:
  explicit JsonReader(std::string_view name) : name_(name) {}

  Result<void> read(const Json& document) {
    if (!document.is_object()) return error("the document is not an object");
    for (const auto& [key, value] : document.items()) {
      if (key != "interfaces" && key != "switches" && key != "links")
        return error(
            fmt::format("there is no member '{}': write interfaces, switches, links", key));
      if (!value.is_array()) return error(fmt::format("'{}' is not an array", key));
    }
    for (const char* key : {"interfaces", "switches", "links"}) {
      if (!document.contains(key)) return error(fmt::format("'{}' is missing", key));
    }
    for (const Json& value : document["interfaces"]) TRY(read_interface(value));
    for (const Json& value : document["switches"]) TRY(read_switch(value));
    for (const Json& value : document["links"]) TRY(read_link(value));
    return {};
  }

  std::vector<Node> nodes;
  std::vector<Link> links;

 private:
  [[nodiscard]] tl::unexpected<Error> error(const std::string& what) const {
    return fail(ErrorKind::input, fmt::format("{}: {}", name_, what));
  }

  static const Json* member(const Json& value, const char* key) {
    if (!value.is_object()) return nullptr;
    const auto found = value.find(key);
    return found == value.end() ? nullptr : &*found;
  }

  /// Refuses a member that is none of `known`: a misspelt one would change the network silently.
  [[nodiscard]] Result<void> check_members(const Json& value, const char* what,
                                           std::initializer_list<std::string_view> known) const {
    if (!value.is_object()) return {};
    for (const auto& [key, ignored] : value.items()) {
      if (std::find(known.begin(), known.end(), key) == known.end())
        return error(
            fmt::format("{} has no member '{}': write {}", what, key, fmt::join(known, ", ")));
    }
    return {};
  }

  Result<void> add(Node node) {
    if (node.name.empty()) return error("a node has an empty name");
    if (!index_.emplace(node.name, static_cast<NodeIndex>(nodes.size())).second)
      return error(fmt::format("two nodes are called '{}'", node.name));
    nodes.push_back(std::move(node));
    return {};
  }

  Result<void> read_interface(const Json& value) {
    const Json* const name = value.is_string() ? &value : member(value, "name");
    if (name == nullptr || !name->is_string())
      return error("an interface is neither a name nor an object with one");
    TRY(check_members(value, "an interface", {"name"}));
    return add({.name = name->get<std::string>(), .is_switch = false, .ports = 1});
  }

  Result<void> read_switch(const Json& value) {
    const Json* const name = member(value, "name");
    if (name == nullptr || !name->is_string()) return error("a switch has no name");
    const std::string text = name->get<std::string>();
    TRY(check_members(value, "a switch", {"name", "ports"}));
    const Json* const ports = member(value, "ports");
    if (ports == nullptr || !ports->is_number_integer())
      return error(fmt::format("switch '{}' has no number of ports", text));
    if (ports->is_number_unsigned() && ports->get<std::uint64_t>() > k_most_ports)
      return error(
          fmt::format("switch '{}' has {} ports, more than {}", text, ports->dump(), k_most_ports));
    return add({.name = text, .is_switch = true, .ports = ports->get<std::int64_t>()});
  }

  Result<NodeIndex> find(const Json& name) const {
    if (!name.is_string()) return error("an end of a link is not the name of a node");
    const auto found = index_.find(name.get<std::string>());
    if (found != index_.end()) return found->second;
    return error(fmt::format("a link names '{}', which is no node", name.get<std::string>()));
  }

  Result<void> read_link(const Json& value) {
    const Json* const ends = value.is_array() ? &value : member(value, "ends");
    if (ends == nullptr || !ends->is_array() || ends->size() != 2)
      return error("a link does not have two ends");
    TRY(check_members(value, "a link", {"ends", "delay"}));
    Link link;
    TRY_ASSIGN(link.a, find((*ends)[0]));
    TRY_ASSIGN(link.b, find((*ends)[1]));
    if (const Json* const delay = member(value, "delay")) {
      if (!delay->is_string() && !delay->is_number())
        return error(
            fmt::format("the delay of the link of '{}' and '{}' is no text such as \"17ns\"",
                        nodes[link.a].name, nodes[link.b].name));
      const std::string text = delay->is_string() ? delay->get<std::string>() : delay->dump();
      const auto time = parse_time(text);
      if (!time)
        return error(fmt::format("the delay '{}' of the link of '{}' and '{}' {}", text,
                                 nodes[link.a].name, nodes[link.b].name, time.error().message));
      link.delay = *time;
    }
    links.push_back(link);
    return {};
  }

  std::string_view name_;
  std::map<std::string, NodeIndex> index_;
};

}  // namespace

Result<Topology> topology_from_json(std::string_view text, std::string_view name) {
  TRY_ASSIGN(const Json document, json_from_text(text, name));
  JsonReader reader(name);
  TRY(reader.read(document));
  auto topology = Topology::make(std::move(reader.nodes), std::move(reader.links));
  if (!topology)
    return fail(ErrorKind::input, fmt::format("{}: {}", name, topology.error().message));
  return topology;
}

}  // namespace entrain::net
