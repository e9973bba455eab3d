// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/topology.hpp"

#include <map>

#include <gmock/gmock.h>

#include "net/model/generators.hpp"
#include "net/model/spanning_tree.hpp"
#include "net/model/topology_dot.hpp"
#include "net/model/topology_json.hpp"

namespace entrain::net {
namespace {

using testing::HasSubstr;

std::string topology_error(const std::string& text) {
  const auto topology = topology_from_json(text, "f.json");
  return topology ? "accepted" : topology.error().message;
}
std::string dot_error(const std::string& text) {
  const auto topology = topology_from_dot(text, "f.dot");
  return topology ? "accepted" : topology.error().message;
}

constexpr const char* k_small_json = R"({
  "interfaces": ["a", {"name": "b"}], "switches": [{"name": "s", "ports": 2}],
  "links": [["a", "s"], {"ends": ["s", "b"], "delay": "17ns"}]})";

TEST(Topology, is_read_from_json) {
  const Topology topology = topology_from_json(k_small_json, "f.json").value();
  EXPECT_EQ(topology.interfaces().size(), 2u);
  EXPECT_EQ(topology.switch_count(), 1u);
  EXPECT_FALSE(topology.links()[0].delay);
  EXPECT_EQ(topology.links()[1].delay, std::chrono::nanoseconds(17));
  EXPECT_EQ(topology.channel_name(topology.channel(1, 2)), "b -> s");
  EXPECT_EQ(topology.channel(0, 1), k_none);
}

TEST(Topology, is_read_from_dot) {
  const Topology topology = topology_from_dot(R"(/* a
    comment */ strict graph "net" { rankdir=LR; node [shape=box];
    // switches
    s [type=switch, ports=4; label="the switch"]; t
    a -- s -- t [delay="6.5ns"]; "b c" -- t;
    })",
                                              "f.dot")
                                .value();
  EXPECT_EQ(topology.interfaces().size(), 2u);
  EXPECT_EQ(topology.interface_name(1), "b c");
  EXPECT_EQ(topology.nodes()[0].ports, 4);
  EXPECT_EQ(topology.nodes()[1].ports, 2);  // t: as many as it has links
  EXPECT_EQ(topology.links()[1].delay->count(), 6'500'000);
  EXPECT_FALSE(topology.links()[2].delay);
}

TEST(Topology, defaults_of_dot_are_those_of_graphviz) {
  const Topology topology = topology_from_dot(R"(graph {
    a -- s; EDGE [delay="900us", color=red]; edge [color=blue]; b -- s; c -- s [delay="5ns"];
    edge [delay="3ns"]; s -- t; node [type=switch, ports=6]; u -- t; d -- u; d [type=interface] })",
                                              "f.dot")
                                .value();
  const auto delay_ns = [&](std::size_t i) { return topology.links()[i].delay; };
  EXPECT_FALSE(delay_ns(0));
  EXPECT_EQ(delay_ns(1), std::chrono::microseconds(900));
  EXPECT_EQ(delay_ns(2), std::chrono::nanoseconds(5));
  EXPECT_EQ(delay_ns(3), std::chrono::nanoseconds(3));
  std::map<std::string, std::int64_t> ports;
  for (const Node& node : topology.nodes()) ports[node.name] = node.is_switch ? node.ports : 0;
  EXPECT_EQ(ports, (std::map<std::string, std::int64_t>{
                       {"a", 0}, {"b", 0}, {"c", 0}, {"d", 0}, {"s", 4}, {"t", 2}, {"u", 6}}));
  EXPECT_THAT(dot_error("graph { node [type=router]; a -- s }"), HasSubstr("'a' is a 'router'"));
  EXPECT_THAT(dot_error("graph { edge [delay=17]; a -- s }"), HasSubstr("'a' and 's' has no unit"));
  EXPECT_THAT(dot_error("graph { node a }"), HasSubstr("'[' is missing after 'node'"));
}

TEST(Topology, what_graphviz_takes_is_taken) {
  const char* const plain = "graph { a -- s; b -- s }";
  const std::string expected = to_dot(topology_from_dot(plain, "f").value());
  for (const char* text :
       {"Graph g { a -- s; b -- s }", "STRICT GRAPH { a -- s; b -- s; s -- a }",
        "graph { a -- s [weight=-1, len=-.5]; b -- s }", "graph { a -- s [label=<b>]; b -- s }",
        "graph { a -- s [label=<<b>x</b>>]; b -- s; bb=\"0\" + \"1\" }",
        "\xEF\xBB\xBFgraph { \"\" + \"a\" -- s; b -- \"s\" }", "graph { a--s b--s }"}) {
    const auto topology = topology_from_dot(text, "f");
    ASSERT_TRUE(topology) << text << ": " << topology.error().message;
    EXPECT_EQ(to_dot(*topology), expected) << text;
  }
  const Topology strict =
      topology_from_dot(R"(strict graph { a -- s; b -- s; s -- b [delay="4ns"]; b -- s })", "f")
          .value();
  EXPECT_EQ(strict.links().size(), 2u);
  EXPECT_EQ(strict.links()[1].delay, std::chrono::nanoseconds(4));
  EXPECT_THAT(dot_error("graph { a -- s [label=<b]; b -- s }"), HasSubstr("a value is missing"));
  EXPECT_THAT(dot_error("graph { a -- s [label=\"x\" + y]; b -- s }"), HasSubstr("is missing"));
}

TEST(Topology, garbage_is_refused) {
  EXPECT_EQ(dot_error("graph { a -- s; b -- s }\ngarbage"),
            "f.dot, line 2: 'garbage' stands after the graph; a file holds one");
  EXPECT_EQ(dot_error("graph { a -- s; b -- s } // end\n"), "accepted");
  EXPECT_THAT(dot_error("graph { \"\" -- s; b -- s }"), HasSubstr("a node has an empty name"));
  EXPECT_THAT(dot_error("graph { \"\xFF\" -- s; b -- s }"), HasSubstr("is not UTF-8"));
  EXPECT_EQ(dot_error("graph { \"\xC3\xA4\" -- s; b -- s }"), "accepted");
  const auto with = [](const std::string& interface, const std::string& ports,
                       const std::string& link) {
    return topology_error(R"({"interfaces": ["a", )" + interface +
                          R"(], "switches": [{"name": "s", )" + ports +
                          R"(}], "links": [["a", "s"], )" + link + "]}");
  };
  EXPECT_EQ(with(R"("b")", R"("ports": 2)", R"({"ends": ["b", "s"]})"), "accepted");
  EXPECT_EQ(with(R"("b")", R"("ports": 2)", R"({"ends": ["b", "s"], "dealy": "1us"})"),
            "f.json: a link has no member 'dealy': write ends, delay");
  EXPECT_THAT(with(R"({"name": "b", "port": 1})", R"("ports": 2)", R"(["b", "s"])"),
              HasSubstr("an interface has no member 'port'"));
  EXPECT_THAT(with(R"("b")", R"("ports": 2, "delay": 1)", R"(["b", "s"])"),
              HasSubstr("a switch has no member 'delay'"));
  EXPECT_EQ(with(R"("b")", R"("ports": 18446744073709551615)", R"(["b", "s"])"),
            "f.json: switch 's' has 18446744073709551615 ports, more than 1000000");
}

TEST(Topology, comes_back_from_its_own_dot) {
  const Topology first = generate("random:20x9x6", 3).value();
  const Topology second = topology_from_dot(to_dot(first), "f.dot").value();
  EXPECT_EQ(to_dot(first), to_dot(second));
  EXPECT_EQ(first.interfaces().size(), second.interfaces().size());
}

TEST(Topology, every_mistake_names_the_node) {
  EXPECT_EQ(dot_error("graph { a -- s; b -- s; c [type=interface] }"),
            "f.dot: node 'c' is connected to nothing");
  EXPECT_EQ(dot_error("graph { s [ports=2]; a -- s; b -- s; c -- s }"),
            "f.dot: switch 's' has 2 ports but 3 links");
  EXPECT_EQ(dot_error("graph { a -- s; b -- s; s -- t -- s }"),
            "f.dot: nodes 't' and 's' are linked twice");
  EXPECT_EQ(dot_error("graph { a -- s; b -- s; s -- s }"), "f.dot: node 's' is linked to itself");
  EXPECT_EQ(dot_error("graph { a -- s; b -- s; c -- t; d -- t }"),
            "f.dot: node 'c' is not connected with node 'a'");
  EXPECT_THAT(dot_error("graph { a -- b }"), HasSubstr("'a' and 'b' are linked to each other"));
  EXPECT_THAT(dot_error("graph { a [type=interface]; a -- s; a -- t; b -- s; t -- s }"),
              HasSubstr("interface 'a' has 2 links"));
  EXPECT_THAT(dot_error("graph { a -- s; s [type=switch] }"), HasSubstr("there is one interface"));
  EXPECT_THAT(topology_error(R"({"interfaces": ["a", "b"], "switches": [{"name": "s", "ports": 0}],
                             "links": [["a", "s"], ["b", "s"]]})"),
              HasSubstr("switch 's' has 0 ports"));
  EXPECT_THAT(topology_error(R"({"interfaces": ["a", "a"], "switches": [], "links": []})"),
              HasSubstr("two nodes are called 'a'"));
}

TEST(Topology, bad_json_is_one_sentence) {
  EXPECT_EQ(topology_error("{"), "f.json: this is no JSON document");
  EXPECT_EQ(topology_error("[]"), "f.json: the document is not an object");
  EXPECT_THAT(topology_error("{}"), HasSubstr("'interfaces' is missing"));
  EXPECT_THAT(topology_error(R"({"nodes": []})"), HasSubstr("'nodes'"));
  const auto with_link = [](const std::string& link) {
    return topology_error(R"({"interfaces": ["a", "b"], "switches": [{"name": "s", "ports": 2}],
                          "links": [["a", "s"], )" +
                          link + "]}");
  };
  EXPECT_EQ(with_link(R"(["b", "s"])"), "accepted");
  EXPECT_THAT(with_link(R"(["b"])"), HasSubstr("two ends"));
  EXPECT_THAT(with_link(R"(["b", "x"])"), HasSubstr("'x', which is no node"));
  EXPECT_THAT(with_link(R"({"ends": ["b", "s"], "delay": "-3ns"})"), HasSubstr("is negative"));
  EXPECT_THAT(with_link(R"({"ends": ["b", "s"], "delay": 17})"), HasSubstr("has no unit"));
  EXPECT_THAT(with_link(R"({"ends": ["b", "s"], "delay": "2ms"})"),
              HasSubstr("between 0 and 1 ms"));
  EXPECT_THAT(with_link(R"({"ends": ["b", "s"], "delay": )" + std::string(1000, '[') +
                        std::string(1000, ']') + "}"),
              HasSubstr("the delay of the link of 'b' and 's' is no text"));
}

TEST(Topology, a_key_that_stands_twice_is_named) {
  EXPECT_EQ(topology_error(R"({"interfaces": [], "interfaces": []})"),
            "f.json: the key 'interfaces' stands twice in one object; remove one");
  EXPECT_THAT(topology_error(R"({"links": [{"delay": "1ns", "delay": "2ns"}]})"),
              HasSubstr("'delay'"));
  // The same key in two objects is fine.
  EXPECT_THAT(
      topology_error(R"({"switches": [{"name": "s", "ports": 2}, {"name": "t", "ports": 2}]})"),
      HasSubstr("'interfaces' is missing"));
}

TEST(Topology, bad_dot_names_the_line) {
  EXPECT_THAT(dot_error("graph {\n a -- s\n b -> s }"), HasSubstr("f.dot, line 3: "));
  EXPECT_THAT(dot_error("digraph { a -> s }"), HasSubstr("full duplex"));
  EXPECT_THAT(dot_error("hello"), HasSubstr("does not begin with 'graph'"));
  EXPECT_THAT(dot_error(""), HasSubstr("line 1"));
  EXPECT_THAT(dot_error("graph { a -- "), HasSubstr("missing after '--'"));
  EXPECT_THAT(dot_error("graph { a -- s"), HasSubstr("'}' is missing"));
  EXPECT_THAT(dot_error("graph { subgraph x { a } }"), HasSubstr("subgraphs"));
  EXPECT_THAT(dot_error("graph { a:p -- s }"), HasSubstr("name:port"));
  EXPECT_THAT(dot_error("graph { a [type=router] }"), HasSubstr("'router'"));
  EXPECT_THAT(dot_error("graph { a [ports=0] }"), HasSubstr("ports '0' of 'a'"));
  EXPECT_THAT(dot_error("graph { a [label=\"x }"), HasSubstr("missing"));
  EXPECT_THAT(dot_error("graph { a [= ] }"), HasSubstr("']' is missing"));
  EXPECT_THAT(dot_error("graph { a -- s [delay=17] }"), HasSubstr("has no unit"));
}

TEST(Generators, make_what_they_say) {
  const auto counts = [](const char* text) {
    const Topology topology = generate(text, 1).value();
    return std::array{topology.interfaces().size(), topology.switch_count(),
                      topology.links().size()};
  };
  EXPECT_EQ(counts("single:8"), (std::array<std::size_t, 3>{8, 1, 8}));
  EXPECT_EQ(counts("tree:8x4"), (std::array<std::size_t, 3>{392, 1 + 8 + 56, 392 + 8 + 56}));
  EXPECT_EQ(counts("fat-tree:4"), (std::array<std::size_t, 3>{16, 20, 48}));
  EXPECT_EQ(counts("mesh:4x3"), (std::array<std::size_t, 3>{12, 12, 12 + 9 + 8}));
  EXPECT_EQ(counts("torus:4x3x2"), (std::array<std::size_t, 3>{24, 12, 24 + 24}));
  EXPECT_EQ(counts("random:20x9x6")[0], 20u);
  EXPECT_EQ(to_dot(generate("random:20x9x6", 5).value()),
            to_dot(generate("random:20x9x6", 5).value()));
  EXPECT_NE(to_dot(generate("random:20x9x6", 5).value()),
            to_dot(generate("random:20x9x6", 6).value()));
}

TEST(Generators, refuse_what_is_out_of_range) {
  for (const char* text : {"", "single", "single:", "single:1", "single:0", "single:8x2", "tree:8",
                           "tree:2x3", "tree:8x1", "tree:8x9", "fat-tree:3", "torus:2x4",
                           "mesh:0x3", "random:100x2x4", "ring:8", "single:-4", "tree:8x4x"})
    EXPECT_FALSE(generate(text, 1)) << text;
}

TEST(SpanningTree, has_the_least_depth_over_all_roots) {
  // A line of five switches with an interface at each: the middle one is the root.
  const Topology line = generate("mesh:5x1", 1).value();
  const SpanningTree tree(line);
  EXPECT_EQ(line.nodes()[tree.root()].name, "s2");
  EXPECT_EQ(tree.levels(), 4);
  // Of a torus all switches are alike: the first.
  const Topology torus = generate("torus:4x4", 1).value();
  EXPECT_EQ(SpanningTree(torus).root(), 0u);
  EXPECT_EQ(SpanningTree(torus).levels(), 6);  // four links to the farthest switch
}

TEST(SpanningTree, leaves_out_what_leads_nowhere) {
  const Topology topology =
      topology_from_dot("graph { a -- s; b -- s; s -- t; t [type=switch] }", "t").value();
  const SpanningTree tree(topology);
  EXPECT_FALSE(tree.contains(3));
  EXPECT_EQ(tree.levels(), 2);
}

TEST(SpanningTree, routes_go_over_the_nearest_common_switch) {
  const Topology topology = full_tree(3, 3).value();
  const SpanningTree tree(topology);
  const auto names = [&](InterfaceIndex a, InterfaceIndex b) {
    std::string text;
    for (const NodeIndex node : tree.route(topology.interfaces()[a], topology.interfaces()[b]))
      text += topology.nodes()[node].name + " ";
    return text;
  };
  EXPECT_EQ(names(0, 1), "n0 s1 n1 ");
  EXPECT_EQ(names(0, 2), "n0 s1 s0 s2 n2 ");
  EXPECT_EQ(names(4, 4), "n4 s3 n4 ");
}

TEST(SpanningTree, finds_the_link_that_closes_a_cycle) {
  EXPECT_EQ(find_cycle(full_tree(4, 3).value()), k_none);
  const Topology topology =
      topology_from_dot("graph { a -- s -- t -- u -- s; b -- t }", "t").value();
  EXPECT_EQ(topology.channel_name(2 * find_cycle(topology)), "u -> s");
}

}  // namespace
}  // namespace entrain::net
