// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/rules.hpp"

#include <algorithm>
#include <string_view>

#include "base/try.hpp"

namespace entrain::ctf {

namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::vector<FieldPath> paths_of(std::string_view fields) {
  std::vector<FieldPath> paths;
  for (const std::string& field : split(fields, '+')) paths.push_back(split(field, '.'));
  return paths;
}

bool is_complete(const RuleEnd& end) {
  const auto is_whole = [](const FieldPath& path) { return std::ranges::count(path, "") == 0; };
  return !end.events.empty() && !end.events.front().empty() &&
         std::ranges::all_of(end.key, is_whole);
}

/// "NAME:FIELDS"
RuleEnd end_of(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return {};
  return {.events = {std::string(text.substr(0, colon))}, .key = paths_of(text.substr(colon + 1))};
}

// The window tells acknowledgements of equal numbers apart.
constexpr std::string_view k_socket_fields = "seq+ack_seq+flags+window";
constexpr std::string_view k_packet_fields =
    "network_header.saddr+network_header.daddr+network_header.transport_header.source_port+"
    "network_header.transport_header.dest_port+network_header.transport_header.seq+"
    "network_header.transport_header.ack_seq+network_header.transport_header.flags+"
    "network_header.transport_header.window_size+";

/// `last`: the field that tells packets apart that are sent again.
Rule packets(const char* name, const char* last) {
  const auto key = paths_of(std::string(k_packet_fields) + last);
  return {.name = name,
          .send = {{"net_dev_queue"}, key},
          .receive = {{"netif_receive_skb", "net_if_receive_skb"}, key},
          .place = {"name"}};
}

}  // namespace

std::span<const Rule> known_rules() {
  static const std::vector<Rule> rules{
      {.name = "TCP packets of sockets",
       .send = {{"inet_sock_local_out"}, paths_of(k_socket_fields)},
       .receive = {{"inet_sock_local_in"}, paths_of(k_socket_fields)}},
      {.name = "ROS 2 messages",
       .send = end_of("ros2:rmw_publish:timestamp"),
       .receive = end_of("ros2:rmw_take:source_timestamp"),
       .place = {"rmw_subscription_handle"}},
      packets("TCP packets over IPv4", "network_header.id"),
      packets("TCP packets over IPv6", "network_header.flow_lbl")};  // has no id
  return rules;
}

Result<Rule> parse_rule(const std::string& text) {
  constexpr std::string_view k_send = "send=", k_receive = ",receive=";
  const std::size_t comma = text.find(k_receive);
  Rule rule{.name = text, .send = {}, .receive = {}};
  if (text.starts_with(k_send) && comma != std::string::npos) {
    rule.send = end_of(std::string_view(text).substr(k_send.size(), comma - k_send.size()));
    rule.receive = end_of(std::string_view(text).substr(comma + k_receive.size()));
  }
  if (!is_complete(rule.send) || !is_complete(rule.receive)) {
    return usage_error(
        "--match {}: a rule is send=NAME:FIELDS,receive=NAME:FIELDS, such as "
        "send=app:request:id,receive=app:serve:id",
        text);
  }
  if (rule.send.key.size() != rule.receive.key.size()) {
    return usage_error(
        "--match {}: {} fields of the send and {} of the receive; give as many of both, in one "
        "order",
        text, rule.send.key.size(), rule.receive.key.size());
  }
  return rule;
}

}  // namespace entrain::ctf
