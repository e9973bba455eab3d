// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/generators.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/random.hpp"
#include "base/try.hpp"

namespace entrain::net {
namespace {

/// Collects nodes and links, and names them in the order of their creation.
class Builder {
 public:
  NodeIndex add_switch(std::int64_t ports) {
    nodes_.push_back({.name = fmt::format("s{}", switches_++), .is_switch = true, .ports = ports});
    return last();
  }
  void add_interface(NodeIndex on) {
    nodes_.push_back({.name = fmt::format("n{}", interfaces_++), .is_switch = false, .ports = 1});
    link(last(), on);
  }
  void link(NodeIndex a, NodeIndex b) { links_.push_back({a, b, std::nullopt}); }
  Result<Topology> topology() { return Topology::make(std::move(nodes_), std::move(links_)); }

 private:
  [[nodiscard]] NodeIndex last() const { return static_cast<NodeIndex>(nodes_.size() - 1); }

  std::vector<Node> nodes_;
  std::vector<Link> links_;
  int switches_ = 0;
  int interfaces_ = 0;
};

Result<void> check(const char* what, std::int64_t value, std::int64_t least, std::int64_t most) {
  if (value >= least && value <= most) return {};
  return fail(ErrorKind::usage,
              fmt::format("{} {} is not between {} and {}", what, value, least, most));
}

/// Draws switches at random among those with a free port.
class RandomSwitches {
 public:
  RandomSwitches(std::int64_t ports, std::uint64_t seed) : ports_(ports), random_(seed, 0) {}

  void add() { free_.push_back(ports_); }
  void take(std::size_t index) { --free_[index]; }
  /// A switch with more than `spared` free ports, or k_none if there is none.
  NodeIndex draw(std::int64_t spared) {
    std::vector<NodeIndex> candidates;
    for (NodeIndex i = 0; i < free_.size(); ++i) {
      if (free_[i] > spared) candidates.push_back(i);
    }
    if (candidates.empty()) return k_none;
    return candidates[random_.below(candidates.size())];
  }
  RandomStream& random() { return random_; }

 private:
  std::int64_t ports_;
  std::vector<std::int64_t> free_;
  RandomStream random_;
};

/// The numbers between each 'x'. Empty if one of them is no number.
std::vector<std::int64_t> numbers_in(std::string_view text) {
  std::vector<std::int64_t> numbers;
  for (;;) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const auto value = parse_whole(text.substr(0, end), 0, 1'000'000);
    if (!value) return {};
    numbers.push_back(*value);
    if (end == text.size()) return numbers;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Topology> single_switch(std::int64_t interfaces) {
  TRY(check("the number of interfaces", interfaces, 2, 1024));
  Builder builder;
  const NodeIndex root = builder.add_switch(interfaces);
  for (std::int64_t i = 0; i < interfaces; ++i) builder.add_interface(root);
  return builder.topology();
}

Result<Topology> full_tree(std::int64_t ports, std::int64_t levels) {
  TRY(check("the number of levels", levels, 2, 16));
  TRY(check("the number of ports", ports, levels == 2 ? 2 : 3, 1024));
  std::int64_t interfaces = ports;
  for (std::int64_t i = 2; i < levels; ++i) {
    interfaces *= ports - 1;
    TRY(check("the number of interfaces", interfaces, 2, static_cast<std::int64_t>(k_most_nodes)));
  }
  Builder builder;
  std::vector<NodeIndex> row{builder.add_switch(ports)};
  std::int64_t children = ports;
  for (std::int64_t level = levels - 2; level > 0; --level) {
    std::vector<NodeIndex> next;
    for (const NodeIndex parent : row) {
      for (std::int64_t i = 0; i < children; ++i) {
        next.push_back(builder.add_switch(ports));
        builder.link(next.back(), parent);
      }
    }
    row = std::move(next);
    children = ports - 1;
  }
  for (const NodeIndex parent : row) {
    for (std::int64_t i = 0; i < children; ++i) builder.add_interface(parent);
  }
  return builder.topology();
}

Result<Topology> fat_tree(std::int64_t ports) {
  TRY(check("the number of ports", ports, 2, 32));
  if (ports % 2 != 0)
    return fail(ErrorKind::usage,
                fmt::format("the number of ports {} is odd; the switches of a fat "
                            "tree have as many links up as down",
                            ports));
  const std::int64_t half = ports / 2;
  Builder builder;
  std::vector<NodeIndex> cores, edges;
  for (std::int64_t i = 0; i < half * half; ++i) cores.push_back(builder.add_switch(ports));
  for (std::int64_t pod = 0; pod < ports; ++pod) {
    std::vector<NodeIndex> aggregates;
    for (std::int64_t i = 0; i < half; ++i) {
      aggregates.push_back(builder.add_switch(ports));
      for (std::int64_t up = 0; up < half; ++up)
        builder.link(aggregates.back(), cores[static_cast<std::size_t>(i * half + up)]);
    }
    for (std::int64_t i = 0; i < half; ++i) {
      edges.push_back(builder.add_switch(ports));
      for (const NodeIndex aggregate : aggregates) builder.link(edges.back(), aggregate);
    }
  }
  for (const NodeIndex edge : edges) {
    for (std::int64_t i = 0; i < half; ++i) builder.add_interface(edge);
  }
  return builder.topology();
}

Result<Topology> mesh(std::int64_t width, std::int64_t height, std::int64_t hosts, bool wrap) {
  const std::int64_t least = wrap ? 3 : 1;
  TRY(check("the width", width, least, 128));
  TRY(check("the height", height, least, 128));
  TRY(check("the number of interfaces per switch", hosts, 1, 64));
  Builder builder;
  std::vector<NodeIndex> grid;
  for (std::int64_t i = 0; i < width * height; ++i) grid.push_back(builder.add_switch(4 + hosts));
  const auto at = [&](std::int64_t x, std::int64_t y) {
    return grid[static_cast<std::size_t>(y % height * width + x % width)];
  };
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      if (wrap || x + 1 < width) builder.link(at(x, y), at(x + 1, y));
      if (wrap || y + 1 < height) builder.link(at(x, y), at(x, y + 1));
    }
  }
  for (const NodeIndex node : grid) {
    for (std::int64_t i = 0; i < hosts; ++i) builder.add_interface(node);
  }
  return builder.topology();
}

Result<Topology> random_graph(std::int64_t interfaces, std::int64_t switches, std::int64_t ports,
                              std::uint64_t seed) {
  TRY(check("the number of interfaces", interfaces, 2, 10'000));
  TRY(check("the number of switches", switches, 1, 5'000));
  TRY(check("the number of ports", ports, 3, 1024));
  // A tree takes two ports per link; what is left must do for the interfaces.
  const std::int64_t left = switches * ports - 2 * (switches - 1);
  if (interfaces > left)
    return fail(ErrorKind::usage,
                fmt::format("{} switches of {} ports leave room for {} interfaces, not {}",
                            switches, ports, left, interfaces));
  Builder builder;
  RandomSwitches drawn(ports, seed);
  std::vector<std::vector<bool>> linked;
  for (NodeIndex i = 0; i < switches; ++i) {
    const NodeIndex parent = drawn.draw(0);
    builder.add_switch(ports);
    drawn.add();
    linked.emplace_back(static_cast<std::size_t>(switches), false);
    if (i == 0) continue;
    builder.link(parent, i);
    drawn.take(parent);
    drawn.take(i);
    linked[i][parent] = linked[parent][i] = true;
  }
  std::int64_t spare = (left - interfaces) / 2;
  for (std::int64_t i = 0; i < std::min(spare, switches); ++i) {
    const NodeIndex a = drawn.draw(0);
    if (a == k_none) break;
    const NodeIndex b = drawn.draw(0);
    if (a == b || linked[a][b] || linked[b][a]) continue;
    builder.link(a, b);
    drawn.take(a);
    drawn.take(b);
    linked[a][b] = linked[b][a] = true;
  }
  for (std::int64_t i = 0; i < interfaces; ++i) {
    const NodeIndex on = drawn.draw(0);
    drawn.take(on);
    builder.add_interface(on);
  }
  return builder.topology();
}

Result<Topology> generate(std::string_view description, std::uint64_t seed) {
  const std::size_t colon = std::min(description.find(':'), description.size());
  const std::string_view kind = description.substr(0, colon);
  const std::vector<std::int64_t> n =
      numbers_in(description.substr(std::min(colon + 1, description.size())));
  if (kind == "single" && n.size() == 1) return single_switch(n[0]);
  if (kind == "tree" && n.size() == 2) return full_tree(n[0], n[1]);
  if (kind == "fat-tree" && n.size() == 1) return fat_tree(n[0]);
  if ((kind == "mesh" || kind == "torus") && (n.size() == 2 || n.size() == 3))
    return mesh(n[0], n[1], n.size() == 3 ? n[2] : 1, kind == "torus");
  if (kind == "random" && n.size() == 3) return random_graph(n[0], n[1], n[2], seed);
  return fail(
      ErrorKind::usage,
      fmt::format("'{}' is not a topology: write single:N, tree:PORTSxLEVELS, fat-tree:PORTS, "
                  "mesh:WxH, torus:WxH or random:INTERFACESxSWITCHESxPORTS",
                  description));
}

}  // namespace entrain::net
