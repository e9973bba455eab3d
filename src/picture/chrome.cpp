// SPDX-License-Identifier: BSD-3-Clause
//
// The JSON of the Trace Event Format: {"traceEvents": [...]}, times in microseconds.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/file_mark.hpp"
#include "formats/perfetto/state.hpp"
#include "picture/writer.hpp"

namespace entrain::picture {

namespace {

/// `name` in quotes.
std::string quoted(const std::string& name) {
  std::string text = "\"";
  perfetto::escape(name, text);
  return text + '"';
}

class Chrome final : public Writer {
 public:
  void begin(const Titles& titles) override {
    take(titles);
    for (std::uint32_t r = 0; r <= definitions_->regions.size(); ++r) {
      regions_.push_back(quoted(region_name(*definitions_, r)));
    }
    add(R"({{"displayTimeUnit":"ns","otherData":{{"writer":"{}"}},"traceEvents":[)", file_mark());
    for (std::uint32_t group = 0; group < titles.groups.size(); ++group) {
      write_names(titles, group);
    }
  }

  void enter(const Track& track, std::uint64_t ns, std::uint32_t region) override {
    const std::size_t name = std::min<std::size_t>(region, regions_.size() - 1);
    open(track, ns, 'B');
    add(R"(,"cat":"call","name":{}}})", regions_[name]);
  }

  void leave(const Track& track, std::uint64_t ns) override {
    open(track, ns, 'E');
    text_ += '}';
  }

  /// Readers go by time and drop an arrow that ends before it began: a backward one is drawn from
  /// its earlier end to the later one.
  void mark(const Track& track, std::uint64_t ns, const Mark& mark) override {
    const char* const family = name_of(mark.family);
    open(track, ns, 'i');
    add(R"(,"s":"t","cat":"{}","name":"{}"}})", family, name_of(mark.family, mark.arrival));
    for (const FlowEnd& end : mark.flows) {
      const bool is_last = mark.arrival != end.backward;
      open(track, ns, is_last ? 'f' : 's');
      add(R"(,{}"cat":"{}","name":"{}","id":{}}})", is_last ? "\"bp\":\"e\"," : "", family, family,
          end.id);
    }
  }

  void violation(const Track& track, std::uint64_t ns, const Violation& violation) override {
    open(track, ns, 'i');
    add(R"(,"s":"t","cat":"violation","name":"violation","args":{{"margin_ns":{},"bound_ns":{},)",
        violation.margin_ns, violation.bound_ns);
    add(R"("kind":"{}","cause":{}}}}})", violation.kind,
        picture::quoted(process_names_[violation.cause]));
  }

  void end() override { text_ += "\n]}\n"; }

 private:
  template <class... T>
  void add(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<T>(values)...);
  }

  [[nodiscard]] std::uint32_t process_id(std::uint32_t group, LocationIndex location) const {
    return 1 + group * processes_ + definitions_->process_of[location];
  }

  void begin_event() {
    text_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
  }

  void open(const Track& track, std::uint64_t ns, char phase) {
    begin_event();
    add(R"({{"ph":"{}","pid":{},"tid":{},"ts":{}.{:03})", phase,
        process_id(track.group, track.location), 1 + track.location, ns / 1000, ns % 1000);
  }

  void write_names(const Titles& titles, std::uint32_t group) {
    std::vector<bool> named(processes_);
    for (LocationIndex l = 0; l < definitions_->locations.size(); ++l) {
      if (!titles.shown[l]) continue;
      const std::uint32_t process = definitions_->process_of[l];
      if (!named[process]) {
        named[process] = true;
        const std::string& title = titles.groups[group];
        write_name("process_name", group, l,
                   (title.empty() ? "" : title + ": ") +
                       shown_name(trace::process_name(*definitions_, l), process));
      }
      write_name("thread_name", group, l, shown_name(definitions_->locations[l].name, l));
    }
  }

  void write_name(const char* what, std::uint32_t group, LocationIndex location,
                  const std::string& name) {
    begin_event();
    add(R"({{"ph":"M","pid":{},"tid":{},"name":"{}","args":{{"name":{}}}}})",
        process_id(group, location), 1 + location, what, quoted(name));
  }

  std::vector<std::string> regions_;  ///< names in quotes; the last one stands for an unknown
                                      ///< region
  bool is_first_ = true;
};

}  // namespace

std::unique_ptr<Writer> chrome_writer() { return std::make_unique<Chrome>(); }

}  // namespace entrain::picture
