// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/draft.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "base/text.hpp"
#include "base/utf8.hpp"

namespace entrain::spans {

namespace {

using Key = std::pair<std::string_view, Sign>;

std::string* member_in(std::span<const Key> keys, std::string_view key, Place& place) {
  const auto known =
      std::find_if(keys.begin(), keys.end(), [&](const Key& one) { return one.first == key; });
  if (known == keys.end()) return nullptr;
  return &place.signs[static_cast<std::size_t>(known->second)];
}

/// Names that every machine has.
bool is_nowhere(std::string_view name) {
  return name.empty() || name == "localhost" || name.starts_with("localhost.") ||
         name.starts_with("127.") || name == "::1" || name == "0.0.0.0" || name == "unknown";
}

/// Libraries name services without a name "unknown_service...".
bool is_unnamed(std::string_view service) {
  return service.empty() || service.starts_with("unknown_service");
}

}  // namespace

std::string* Place::member(std::string_view key) {
  constexpr std::array<Key, 15> k_keys{{{"k8s.node.name", Sign::node},
                                        {"host.id", Sign::host_id},
                                        {"host.name", Sign::host},
                                        {"hostname", Sign::host},
                                        {"device.id", Sign::device},
                                        {"k8s.pod.name", Sign::pod},
                                        {"service.instance.id", Sign::instance},
                                        {"container.id", Sign::container},
                                        {"host.ip", Sign::address},
                                        {"ip", Sign::address},
                                        {"ipv4", Sign::address},
                                        {"ipv6", Sign::address},
                                        {"service.name", Sign::service},
                                        {"serviceName", Sign::service},
                                        {"session.id", Sign::session}}};
  std::string* const member = member_in(k_keys, key, *this);
  const bool is_second = member == &signs[static_cast<std::size_t>(Sign::address)];
  return is_second && !member->empty() ? nullptr : member;
}

std::string* Place::member_of_span(std::string_view key) {
  constexpr std::array<Key, 2> k_keys{{{"device.id", Sign::device}, {"session.id", Sign::session}}};
  return member_in(k_keys, key, *this);
}

std::string_view address_in(std::string_view list) {
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find('\n'));
    const bool is_own = one.starts_with("172.17.") || one.starts_with("169.254.") ||
                        one.starts_with("fe80:") || is_nowhere(one);
    if (!is_own) return one;
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  return {};
}

void Place::complete_with(const Place& other) {
  for (std::size_t i = 0; i < signs.size(); ++i) {
    if (signs[i].empty()) signs[i] = other.signs[i];
  }
  is_changed = is_changed || other.is_changed;
}

bool Place::is_unknown() const {
  return std::all_of(signs.begin(), signs.end(), [](const auto& sign) { return sign.empty(); });
}

std::string Place::clock() const {
  for (const Sign sign : {Sign::node, Sign::host_id, Sign::host, Sign::device, Sign::pod}) {
    if (!is_nowhere(of(sign))) return of(sign);
  }
  const std::string& service = of(Sign::service);
  for (const Sign sign : {Sign::instance, Sign::container, Sign::address}) {
    if (!is_nowhere(of(sign))) return service.empty() ? of(sign) : service + "@" + of(sign);
  }
  return is_unnamed(service) ? std::string(k_unknown_host) : service;
}

std::string Place::part() const {
  std::string text;
  const std::string whole = clock();
  for (const std::string& sign : signs) {
    const bool is_named =
        whole == sign || whole.starts_with(sign + '@') || whole.ends_with('@' + sign);
    if (sign.empty() || is_named) continue;
    text += (text.empty() ? "" : " ") + sign;
  }
  return text;
}

bool says_changed(std::string_view warning) {
  return warning.find("timestamps were adjusted") != std::string_view::npos;
}

std::string shown_text(std::string_view bytes) {
  std::string text(bytes);
  if (is_utf8(bytes)) return text;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_sequence(std::string_view(text).substr(at));
    if (size == 0) text[at] = '?';
    at += size == 0 ? 1 : size;
  }
  return text;
}

Role role_of(std::string_view word) {
  std::string lower = in_small_letters(word);
  if (lower.starts_with("span_kind_")) lower.erase(0, 10);
  constexpr std::array<std::pair<std::string_view, Role>, 4> k_words{
      {{"client", Role::client},
       {"server", Role::server},
       {"producer", Role::producer},
       {"consumer", Role::consumer}}};
  if (lower.size() == 1) return role_of_number(static_cast<std::uint64_t>(lower[0] - '0'));
  for (const auto& [known, role] : k_words) {
    if (lower == known) return role;
  }
  return Role::internal;
}

Role role_of_number(std::uint64_t number) {
  constexpr std::array k_roles{Role::internal, Role::internal, Role::server,
                               Role::client,   Role::producer, Role::consumer};
  return number < k_roles.size() ? k_roles[number] : Role::internal;
}

void Draft::see_attribute(std::string_view key, std::string_view text) {
  // It waits for messages, and receives those that it links to.
  polls |= (key == "messaging.operation" || key == "messaging.operation.type") &&
           (text == "receive" || text == "poll");
  marked |= key == k_mark;
}

void take_attribute(std::string_view key, std::string_view text, Place& place, Draft* span) {
  if (span != nullptr) {
    span->see_attribute(key, text);
    if (std::string* const own = place.member_of_span(key)) {
      *own = shown_text(text);
      span->has_place = true;
    }
    if (key == "@jaeger@warnings" && says_changed(text)) span->has_place = place.is_changed = true;
    return;
  }
  if (key == "host.ip") text = address_in(text);
  std::string* const member = text.empty() ? nullptr : place.member(key);
  if (member != nullptr) *member = shown_text(text);
}

}  // namespace entrain::spans
