// SPDX-License-Identifier: BSD-3-Clause
#include "net/report/svg.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/printable.hpp"

namespace entrain::net {
namespace {

constexpr double k_width = 720, k_height = 420;
constexpr double k_left = 80, k_right = 20, k_top = 44, k_bottom = 64;
constexpr int k_ticks = 6;
constexpr std::array<const char*, 6> k_colours{"#1b6ca8", "#c8553d", "#3d8b5f",
                                               "#7a4ea3", "#b08900", "#555555"};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else
      result += c;
  }
  return result;
}

/// 1, 2 or 5 times a power of ten that cuts `span` into about k_ticks parts.
double step_of(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / k_ticks)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor * k_ticks >= span) return power * factor;
  }
  return power * 10;
}

struct Axis {
  double least = 0, most = 0, step = 1;

  void include(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
  void finish() {
    if (most <= least) most = least + 1;
    step = step_of(most - least);
    least = std::floor(least / step) * step;
    most = std::ceil(most / step) * step;
  }
  [[nodiscard]] double share(double value) const { return (value - least) / (most - least); }
};

struct Frame {
  Axis x, y;

  [[nodiscard]] double px(double value) const {
    return k_left + x.share(value) * (k_width - k_left - k_right);
  }
  [[nodiscard]] double py(double value) const {
    return k_height - k_bottom - y.share(value) * (k_height - k_top - k_bottom);
  }
};

std::string label(double x, double y, const char* anchor, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     escaped(text));
}

std::string grid(const Frame& frame) {
  std::string text;
  const auto line = [&](double x1, double y1, double x2, double y2) {
    text += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n", x1,
        y1, x2, y2);
  };
  const auto ticks = [](const Axis& axis) {
    return static_cast<int>(std::lround((axis.most - axis.least) / axis.step));
  };
  for (int i = 0; i <= ticks(frame.x); ++i) {
    const double value = frame.x.least + i * frame.x.step;
    line(frame.px(value), k_top, frame.px(value), k_height - k_bottom);
    text +=
        label(frame.px(value), k_height - k_bottom + 18, "middle", fmt::format("{:.6g}", value));
  }
  for (int i = 0; i <= ticks(frame.y); ++i) {
    const double value = frame.y.least + i * frame.y.step;
    line(k_left, frame.py(value), k_width - k_right, frame.py(value));
    text += label(k_left - 8, frame.py(value) + 4, "end", fmt::format("{:.6g}", value));
  }
  return text;
}

std::string drawn(const PlotSeries& series, const Frame& frame, const char* colour) {
  std::string text, path;
  const bool dots = series.marks_only || series.points.size() < 40;
  for (const auto& [x, y] : series.points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", frame.px(x), frame.py(y));
    if (dots)
      text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\"/>\n",
                          frame.px(x), frame.py(y), series.marks_only ? 5 : 3, colour);
  }
  if (series.marks_only) return text;
  return text + fmt::format(
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" "
                    "stroke-width=\"1.5\"/>\n",
                    path, colour);
}

}  // namespace

std::string to_svg(const Plot& plot) {
  Frame frame;
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) {
      frame.x.include(x);
      frame.y.include(y);
    }
  }
  frame.x.finish();
  frame.y.finish();
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      k_width, k_height);
  text += label(k_left, 24, "start", plot.title);
  text += grid(frame);
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const char* const colour = k_colours[i % k_colours.size()];
    text += drawn(plot.series[i], frame, colour);
    const double x = k_left + 12, y = k_top + 16 + 16 * static_cast<double>(i);
    text +=
        fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
                    y - 9, colour);
    text += label(x + 16, y, "start", plot.series[i].name);
  }
  text += label((k_left + k_width - k_right) / 2, k_height - 16, "middle", plot.x_label);
  text += fmt::format(
      "<text transform=\"translate(20 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}"
      "</text>\n",
      (k_top + k_height - k_bottom) / 2, escaped(plot.y_label));
  return text + "</svg>\n";
}

}  // namespace entrain::net
