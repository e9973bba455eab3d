// SPDX-License-Identifier: BSD-3-Clause
//
// How far each way of presync is from the truth of a recording on virtual nodes: see
// bench/README.md.

#include <string>
#include <vector>

#include <fmt/core.h>

#include "arguments.hpp"
#include "support/clock_truth.hpp"

namespace {

using entrain::Condensing;
using entrain::Presync;

struct Case {
  const char* method;
  const char* sessions;
  entrain::test::ClockErrorOptions options;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> k_cases{
      {"linear", "first and last", {Presync::linear, Condensing::shortest, true}},
      {"linear", "all", {Presync::linear, Condensing::shortest, false}},
      {"regression", "shortest", {Presync::regression, Condensing::shortest, false}},
      {"regression", "mean", {Presync::regression, Condensing::mean, false}},
      {"regression", "weighted", {Presync::regression, Condensing::weighted, false}},
      {"spline", "shortest", {Presync::spline, Condensing::shortest, false}},
      {"spline", "mean", {Presync::spline, Condensing::mean, false}},
      {"spline", "weighted", {Presync::spline, Condensing::weighted, false}},
      {"auto", "shortest", {Presync::automatic, Condensing::shortest, false}}};
  return k_cases;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) bench::die("usage: clock_errors TRACE TRUTH");
  std::string text = "[";
  for (const Case& one : cases()) {
    const auto errors = entrain::test::clock_errors(argv[1], argv[2], one.options);
    if (!errors) bench::die(errors.error().message);
    text += fmt::format(
        "{}\n  {{\"method\": \"{}\", \"used\": \"{}\", \"sessions\": \"{}\", \"events\": {}, "
        "\"rms_us\": {:.4f}, \"p99_us\": {:.4f}, \"max_us\": {:.4f}, \"bound_us\": {}, "
        "\"bounded\": {}, \"beyond\": {}}}",
        text.size() == 1 ? "" : ",", one.method, errors->method, one.sessions, errors->events,
        errors->rms_us, errors->p99_us, errors->max_us,
        errors->bound_us ? fmt::format("{:.4f}", *errors->bound_us) : "null", errors->bounded,
        errors->beyond);
  }
  fmt::print("{}\n]\n", text);
}
