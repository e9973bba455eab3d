// SPDX-License-Identifier: BSD-3-Clause
#include "page/html/html.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/file_mark.hpp"
#include "base/try.hpp"
#include "page/html/page_json.hpp"
#include "page/html/template.hpp"
#include "report/clock_report.hpp"

namespace entrain::page {

namespace {

/// Text that shows as it is in an element.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '<' || c == '&') {
      result += c == '<' ? "&lt;" : "&amp;";
    } else {
      result += c;
    }
  }
  return result;
}

Result<std::string> filled(std::string_view page, std::string_view mark, std::string_view text) {
  const std::size_t at = page.find(mark);
  if (at == page.npos || page.find(mark, at + 1) != page.npos) {
    return fail(ErrorKind::output,
                "the template of the HTML report has no place for data; build entrain again");
  }
  std::string result(page.substr(0, at));
  result += text;
  result += page.substr(at + mark.size());
  return result;
}

/// The verdict and the table of clocks, for readers without scripts.
template <class Report>
std::string text_of(const Report& report, const report::Json& document) {
  std::string text;
  for (const char* part : {"sentence", "sentence_after"}) {
    if (document.contains(part)) text += document[part].get<std::string>() + "\n";
  }
  if (!report.clocks.rows.empty()) text += "\n" + report::to_text(report.clocks, report::Style());
  return text;
}

template <class Report>
Result<std::string> page_of(const Report& report, const Data& data, const Origin& origin) {
  if (!can_write_pages()) return no_pages();
  const report::Json document = page_json(report, data, origin);
  // Bytes that are not UTF-8 are replaced.
  TRY_ASSIGN(std::string page,
             fill_template(page_template(),
                           document.dump(-1, ' ', false, report::Json::error_handler_t::replace),
                           text_of(report, document)));
  constexpr std::string_view k_head = "<head>";
  if (const std::size_t at = page.find(k_head); at != page.npos) {
    page.insert(at + k_head.size(),
                fmt::format("\n<meta name=\"generator\" content=\"{}\">", file_mark()));
  }
  return page;
}

}  // namespace

bool can_write_pages() { return !page_template().empty(); }

tl::unexpected<Error> no_pages() {
  return fail(ErrorKind::usage,
              "this entrain was built without the HTML report, because npm was missing or "
              "ENTRAIN_REPORT was OFF; install nodejs and npm and build it again");
}

std::string harmless_in_script(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

Result<std::string> fill_template(std::string_view page, std::string_view json,
                                  std::string_view text) {
  TRY_ASSIGN(const std::string told, filled(page, k_text_mark, escaped(text)));
  return filled(told, k_data_mark, harmless_in_script(json));
}

Result<std::string> html(const CheckReport& report, const Data& data, const Origin& origin) {
  return page_of(report, data, origin);
}

Result<std::string> html(const CorrectReport& report, const Data& data, const Origin& origin) {
  return page_of(report, data, origin);
}

Result<std::string> html(const AlignReport& report, const Data& data, const Origin& origin) {
  return page_of(report, data, origin);
}

}  // namespace entrain::page
