// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/topology_dot.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/try.hpp"
#include "base/utf8.hpp"

namespace entrain::net {
namespace {

struct Token {
  enum Kind { word, symbol, edge, end } kind = end;
  std::string text;
  bool quoted = false;
  int line = 1;
};

bool is_word(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || byte >= 0x80;
}

bool is_numeral(char c) { return (c >= '0' && c <= '9') || c == '.'; }

/// Keywords of DOT are the same in capitals.
bool is_same_word(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](char x, char y) { return (x >= 'A' && x <= 'Z' ? x - 'A' + 'a' : x) == y; });
}

/// Splits DOT into words, symbols and edges; comments are left out.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;  // byte order mark
  }

  Token next() {
    skip();
    Token token;
    token.line = line_;
    if (at_ >= text_.size()) return token;
    const char c = text_[at_];
    if (c == '"') return joined(token);
    if (c == '<') return html(token);
    const std::string_view two = text_.substr(at_, 2);
    if (two == "--" || two == "->") {
      token.kind = Token::edge;
      token.text = std::string(two);
      at_ += 2;
      return token;
    }
    const bool negative = c == '-' && two.size() == 2 && is_numeral(two[1]);
    token.kind = is_word(c) || negative ? Token::word : Token::symbol;
    do {
      token.text += text_[at_++];
    } while (token.kind == Token::word && at_ < text_.size() && is_word(text_[at_]));
    return token;
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      const bool line_comment = rest.starts_with("//") || (rest[0] == '#' && at_line_start());
      if (line_comment) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (rest.starts_with("/*")) {
        const std::size_t close = std::min(text_.find("*/", at_ + 2), text_.size());
        for (; at_ < close; ++at_) line_ += text_[at_] == '\n';
        at_ = std::min(at_ + 2, text_.size());
      } else if (rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r' || rest[0] == '\n') {
        line_ += rest[0] == '\n';
        ++at_;
      } else {
        return;
      }
    }
  }

  [[nodiscard]] bool at_line_start() const { return at_ == 0 || text_[at_ - 1] == '\n'; }

  /// Reads strings joined by '+': "x" + "y" is "xy".
  Token joined(Token token) {
    token = quoted(token);
    while (token.kind == Token::word) {
      const std::pair before{at_, line_};
      skip();
      if (at_ < text_.size() && text_[at_] == '+') {
        ++at_;
        skip();
        if (at_ < text_.size() && text_[at_] == '"') {
          Token next;
          next.line = line_;
          next = quoted(next);
          if (next.kind != Token::word) return next;
          token.text += next.text;
          continue;
        }
      }
      std::tie(at_, line_) = before;
      break;
    }
    return token;
  }

  /// Reads <...> with as many '>' as '<'. If some are missing, returns the symbol '<'.
  Token html(Token token) {
    token.kind = Token::word;
    token.quoted = true;
    int open = 0;
    do {
      const char c = text_[at_++];
      open += c == '<' ? 1 : c == '>' ? -1 : 0;
      line_ += c == '\n';
      token.text += c;
    } while (open > 0 && at_ < text_.size());
    if (open > 0) return {.kind = Token::symbol, .text = "<", .line = token.line};
    return token;
  }

  /// Reads a string in quotes; one without an end comes back as the symbol '"'.
  Token quoted(Token token) {
    token.kind = Token::word;
    token.quoted = true;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      // Graphviz has the same rule: \" is a quote and the only escape; \\ stays two characters.
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("\\\\")) token.text += text_[at_++];
      if (rest.starts_with("\\\"")) ++at_;
      line_ += text_[at_] == '\n';
      token.text += text_[at_];
    }
    if (at_ >= text_.size()) return {.kind = Token::symbol, .text = "\"", .line = token.line};
    ++at_;
    return token;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
};

using Attributes = std::map<std::string, std::string>;

class DotReader {
 public:
  DotReader(std::string_view text, std::string_view name) : lexer_(text), name_(name) { advance(); }

  Result<void> read() {
    if (is_keyword("strict")) {
      is_strict_ = true;
      advance();
    }
    if (is_keyword("digraph"))
      return error("links are full duplex: write 'graph' and '--' instead of 'digraph' and '->'");
    if (!is_keyword("graph")) return error("this does not begin with 'graph'");
    advance();
    if (token_.kind == Token::word) advance();
    if (!is_symbol("{")) return error("'{' is missing after 'graph'");
    advance();
    while (!is_symbol("}")) {
      if (token_.kind == Token::end) return error("'}' is missing at the end");
      TRY(read_statement());
    }
    advance();
    if (token_.kind != Token::end)
      return error(fmt::format("'{}' stands after the graph; a file holds one", token_.text));
    return {};
  }

  /// Decides which of the nodes without a type are switches, and makes the topology.
  Result<Topology> topology() {
    std::vector<std::int64_t> degree(nodes_.size(), 0);
    for (const Link& link : links_) {
      ++degree[link.a];
      ++degree[link.b];
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!typed_[i]) nodes_[i].is_switch = degree[i] != 1;
      if (!nodes_[i].is_switch) {
        nodes_[i].ports = 1;
      } else if (!has_ports_[i]) {
        nodes_[i].ports = std::max<std::int64_t>(degree[i], 1);
      }
    }
    return Topology::make(std::move(nodes_), std::move(links_));
  }

 private:
  void advance() { token_ = lexer_.next(); }
  [[nodiscard]] bool is_symbol(std::string_view text) const {
    return token_.kind == Token::symbol && token_.text == text;
  }
  [[nodiscard]] bool is_keyword(std::string_view text) const {
    return token_.kind == Token::word && !token_.quoted && is_same_word(token_.text, text);
  }
  [[nodiscard]] tl::unexpected<Error> error(const std::string& what) const {
    return fail(ErrorKind::input, fmt::format("{}, line {}: {}", name_, token_.line, what));
  }

  /// The node of that name. A new node gets the attributes of the `node [...]` before it.
  Result<NodeIndex> node(const std::string& name) {
    const auto [found, is_new] = index_.emplace(name, static_cast<NodeIndex>(nodes_.size()));
    const NodeIndex index = found->second;
    if (!is_new) return index;
    if (name.empty()) return error("a node has an empty name");
    if (!is_utf8(name)) return error(fmt::format("the name of a node is not UTF-8: '{}'", name));
    nodes_.push_back({.name = name, .is_switch = false, .ports = 1});
    typed_.push_back(false);
    has_ports_.push_back(false);
    TRY(describe(index, node_defaults_));
    return index;
  }

  Result<void> read_statement() {
    if (is_symbol(";")) {
      advance();
      return {};
    }
    if (is_keyword("subgraph") || is_symbol("{")) return error("subgraphs are not understood");
    if (token_.kind != Token::word)
      return error(fmt::format("'{}' is not expected here", token_.text));
    if (is_keyword("graph") || is_keyword("node") || is_keyword("edge")) return read_defaults();
    std::vector<std::string> path{token_.text};
    advance();
    if (is_symbol("=")) {  // an attribute of the graph
      advance();
      if (token_.kind != Token::word) return error("a value is missing after '='");
      advance();
      return {};
    }
    while (token_.kind == Token::edge) {
      if (token_.text == "->") return error("links are full duplex: write '--' instead of '->'");
      advance();
      if (token_.kind != Token::word) return error("the name of a node is missing after '--'");
      path.push_back(token_.text);
      advance();
    }
    if (is_symbol(":")) return error("ports of nodes (name:port) are not understood");
    TRY_ASSIGN(const Attributes attributes, read_attributes());
    if (path.size() > 1) return connect(path, attributes);
    TRY_ASSIGN(const NodeIndex index, node(path[0]));
    return describe(index, attributes);
  }

  /// `node [...]` and `edge [...]` hold for all new nodes and links after them.
  Result<void> read_defaults() {
    Attributes* const defaults = is_keyword("node")   ? &node_defaults_
                                 : is_keyword("edge") ? &link_defaults_
                                                      : nullptr;
    const std::string keyword = token_.text;
    advance();
    if (!is_symbol("[")) return error(fmt::format("'[' is missing after '{}'", keyword));
    TRY_ASSIGN(const Attributes attributes, read_attributes());
    if (defaults == nullptr) return {};
    for (const auto& [key, value] : attributes) (*defaults)[key] = value;
    return {};
  }

  Result<Attributes> read_attributes() {
    Attributes attributes;
    while (is_symbol("[")) {
      advance();
      while (!is_symbol("]")) {
        const std::string key = token_.text;
        if (token_.kind != Token::word) return error("']' is missing");
        advance();
        if (!is_symbol("=")) return error(fmt::format("'=' is missing after '{}'", key));
        advance();
        if (token_.kind != Token::word)
          return error(fmt::format("a value is missing after '{}='", key));
        attributes[key] = token_.text;
        advance();
        if (is_symbol(",") || is_symbol(";")) advance();
      }
      advance();
    }
    return attributes;
  }

  Result<void> describe(NodeIndex index, const Attributes& attributes) {
    const std::string name = nodes_[index].name;
    if (const auto found = attributes.find("type"); found != attributes.end()) {
      if (found->second != "switch" && found->second != "interface")
        return error(fmt::format("node '{}' is a '{}'; types are switch and interface", name,
                                 found->second));
      nodes_[index].is_switch = found->second == "switch";
      typed_[index] = true;
    }
    if (const auto found = attributes.find("ports"); found != attributes.end()) {
      const auto ports = parse_whole(found->second, 1, k_most_ports);
      if (!ports)
        return error(fmt::format("the ports '{}' of '{}': {}", found->second, name,
                                 "this " + ports.error().message));
      if (typed_[index] && !nodes_[index].is_switch)
        return error(fmt::format("interface '{}' has ports; only switches do", name));
      nodes_[index].is_switch = typed_[index] = has_ports_[index] = true;
      nodes_[index].ports = *ports;
    }
    return {};
  }

  Result<void> connect(const std::vector<std::string>& path, const Attributes& attributes) {
    TRY_ASSIGN(const auto own, delay_in(attributes, path));
    TRY_ASSIGN(const auto usual, delay_in(link_defaults_, path));
    for (std::size_t i = 1; i < path.size(); ++i) {
      Link link;
      TRY_ASSIGN(link.a, node(path[i - 1]));
      TRY_ASSIGN(link.b, node(path[i]));
      link.delay = own ? own : usual;
      const auto [known, is_new] = link_index_.emplace(std::minmax(link.a, link.b), links_.size());
      if (is_new || !is_strict_) {
        links_.push_back(link);
      } else if (own) {  // a strict graph has it once
        links_[known->second].delay = own;
      }
    }
    return {};
  }

  Result<std::optional<Femtoseconds>> delay_in(const Attributes& attributes,
                                               const std::vector<std::string>& path) const {
    const auto found = attributes.find("delay");
    if (found == attributes.end()) return std::nullopt;
    const auto time = parse_time(found->second);
    if (!time)
      return error(fmt::format("the delay '{}' of the link of '{}' and '{}' {}", found->second,
                               path[0], path[1], time.error().message));
    return std::optional(*time);
  }

  Lexer lexer_;
  std::string_view name_;
  Token token_;
  std::map<std::string, NodeIndex> index_;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::map<std::pair<NodeIndex, NodeIndex>, std::size_t> link_index_;
  std::vector<bool> typed_, has_ports_;
  Attributes node_defaults_, link_defaults_;
  bool is_strict_ = false;
};

std::string in_quotes(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? std::string("\\\"") : std::string(1, c);
  return text + "\"";
}

}  // namespace

Result<Topology> topology_from_dot(std::string_view text, std::string_view name) {
  DotReader reader(text, name);
  TRY(reader.read());
  auto topology = reader.topology();
  if (!topology)
    return fail(ErrorKind::input, fmt::format("{}: {}", name, topology.error().message));
  return topology;
}

std::string to_dot(const Topology& topology) {
  std::string text = "graph network {\n";
  for (const Node& node : topology.nodes()) {
    text +=
        fmt::format("  {} [type={}", in_quotes(node.name), node.is_switch ? "switch" : "interface");
    text += node.is_switch ? fmt::format(", ports={}];\n", node.ports) : "];\n";
  }
  for (const Link& link : topology.links()) {
    text += fmt::format("  {} -- {}", in_quotes(topology.nodes()[link.a].name),
                        in_quotes(topology.nodes()[link.b].name));
    if (link.delay) text += fmt::format(" [delay=\"{}fs\"]", link.delay->count());
    text += ";\n";
  }
  return text + "}\n";
}

}  // namespace entrain::net
