// SPDX-License-Identifier: BSD-3-Clause
// The targets of `entrain net`: topologies, parameters, schedules.
#include <algorithm>
#include <memory>

#include "fuzz/scratch.hpp"
#include "net/model/bound_report.hpp"
#include "net/model/generators.hpp"
#include "net/model/json_text.hpp"
#include "net/model/topology_dot.hpp"
#include "net/model/topology_json.hpp"
#include "net/plan/method.hpp"
#include "net/plan/schedule_skew.hpp"
#include "net/plan/verifier.hpp"
#include "net/simulate/simulator.hpp"

namespace entrain::fuzz {

namespace {

constexpr const char* k_file = "the-file";

std::string_view text_of(Input input) {
  return {reinterpret_cast<const char*>(input.data()), input.size()};
}

void expect_good_net_error(const Error& error) {
  if (error.message.empty()) finding("an error without a message");
  if (error.kind == ErrorKind::input && error.message.find(k_file) == std::string::npos)
    finding("an error that names no file: " + error.message);
}

bool same(const net::Topology& a, const net::Topology& b) {
  const auto node = [](const net::Node& x, const net::Node& y) {
    return x.name == y.name && x.is_switch == y.is_switch && x.ports == y.ports;
  };
  const auto link = [](const net::Link& x, const net::Link& y) {
    return x.a == y.a && x.b == y.b && x.delay == y.delay;
  };
  return std::ranges::equal(a.nodes(), b.nodes(), node) &&
         std::ranges::equal(a.links(), b.links(), link);
}

/// Every topology that is accepted can be planned for, and comes back from its own DOT.
void use_topology(const net::Topology& topology) {
  if (topology.nodes().size() > 200) return;
  const net::SpanningTree tree(topology);
  for (const net::Method method : net::k_methods) {
    const auto schedule = net::plan(topology, tree, method);
    if (!schedule) finding("a small topology is refused: " + schedule.error().message);
    const net::Verification verification = net::verify(topology, *schedule);
    if (method != net::Method::sss && !verification.holds())
      finding("a plan fails: " + verification.sentence());
  }
  const auto plain = [](const net::Node& node) {  // DOT has no way to end a name with '\'
    return node.name.find('\\') == std::string::npos;
  };
  if (!std::ranges::all_of(topology.nodes(), plain)) return;
  const std::string dot = net::to_dot(topology);
  const auto again = net::topology_from_dot(dot, k_file);
  if (!again || !same(topology, *again)) finding("not what its own DOT says:\n" + dot);
}

void use(const Result<net::Topology>& topology) {
  if (topology) {
    use_topology(*topology);
  } else {
    expect_good_net_error(topology.error());
  }
}

/// A tree that is simulated with and without skipping must come to the same end.
void compare_skipping(const net::Parameters& parameters) {
  const net::Topology topology = net::full_tree(3, 3).value();
  const net::Schedule schedule =
      net::plan(topology, net::SpanningTree(topology), net::Method::joined).value();
  for (const net::LinkModel model : {net::LinkModel::at_switch, net::LinkModel::at_link}) {
    net::SimulationOptions options;
    options.model = model;
    options.guard_flits = net::usual_guard_flits(parameters, model, parameters.ld);
    options.drift_ppb = 400'000;
    options.phase = parameters.slot() / 2;
    options.synchronisations = 2;
    options.interval_slots = schedule.slots + 2;
    options.load = 0.5;
    const auto with = net::simulate(topology, schedule, parameters, options, nullptr);
    options.skip = false;
    const auto without = net::simulate(topology, schedule, parameters, options, nullptr);
    if (with.has_value() != without.has_value()) finding("only one of two runs is refused");
    if (!with) return;
    if (with->boundaries.back().reached_fs != without->boundaries.back().reached_fs ||
        with->largest_occupancy != without->largest_occupancy ||
        with->blocked_fs != without->blocked_fs || with->inversions != without->inversions)
      finding(std::string("skipping changes the result, model ") + net::name_of(model));
    if (with->undelivered_flits() != 0 || without->undelivered_flits() != 0)
      finding("flits are lost");
  }
}

}  // namespace

void net_json(Input input, Compare) { use(net::topology_from_json(text_of(input), k_file)); }

void net_dot(Input input, Compare) { use(net::topology_from_dot(text_of(input), k_file)); }

void net_parameters(Input input, Compare) {
  const auto texts = net::parameter_texts(text_of(input), k_file);
  if (!texts) return expect_good_net_error(texts.error());
  const auto parameters = net::with_values({}, *texts);
  if (!parameters) return expect_good_net_error(parameters.error());
  (void)net::evaluate_bound(*parameters, 8, 4, {0, 1, 10'000'000});
  (void)net::overrun_risks(net::single_switch(2).value(), *parameters, net::LinkModel::at_switch);
  if (parameters->slot_flits <= 1000) compare_skipping(*parameters);
}

void net_schedule(Input input, Compare) {
  static const std::vector<net::Topology> topologies = [] {
    std::vector<net::Topology> all;
    for (const char* text : {"single:2", "single:5", "tree:3x3", "mesh:3x1"})
      all.push_back(net::generate(text, 1).value());
    return all;
  }();
  if (input.empty()) return;
  const net::Topology& topology = topologies[input[0] % topologies.size()];
  const net::SpanningTree tree(topology);
  const auto n = static_cast<std::uint8_t>(topology.interfaces().size());
  const bool is_wild = (input[0] & 0x80) != 0;  // routes and numbers as they come
  net::Schedule schedule;
  schedule.slots = 16;
  for (std::size_t i = 1; i + 2 < input.size(); i += 3) {
    net::Message message{input[i] % 18, input[i + 1], input[i + 2], 0, 0};
    if (!is_wild) {
      message.source %= n;
      message.destination %= n;
      const auto route = tree.route(topology.interfaces()[message.source],
                                    topology.interfaces()[message.destination]);
      message.route_begin = static_cast<std::uint32_t>(schedule.route_nodes.size());
      schedule.route_nodes.insert(schedule.route_nodes.end(), route.begin(), route.end());
      message.route_end = static_cast<std::uint32_t>(schedule.route_nodes.size());
    } else {
      schedule.route_nodes.push_back(input[i + 2]);
      message.route_begin = input[i];
      message.route_end = static_cast<std::uint32_t>(input[i] + input[i + 1] % 8);
    }
    schedule.messages.push_back(message);
  }
  if (!is_wild) {
    std::ranges::stable_sort(schedule.messages, {}, &net::Message::slot);
  }
  const net::Verification verification = net::verify(topology, schedule);
  if (verification.holds() != verification.sentence().empty())
    finding("a verdict without a reason, or the other way round");
  if (verification.malformed > 0 || verification.conflicts > 0) return;
  const bool is_bounded =
      net::skew_of_schedule(schedule, n, {}, net::Reading::published) != net::Femtoseconds::max();
  if (is_bounded != (verification.missing == 0))
    finding("verifier and bound disagree: " + verification.sentence());
}

}  // namespace entrain::fuzz
