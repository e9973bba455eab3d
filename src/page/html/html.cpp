// SPDX-License-Identifier: BSD-3-Clause
#include "page/html/html.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/file_mark.hpp"
#include "base/try.hpp"
#include "page/html/template.hpp"
#include "report/report.hpp"

namespace entrain::page {

namespace {

/// A text in which other texts stand for some characters.
std::string replaced(std::string_view text,
                     std::initializer_list<std::pair<char, std::string_view>> others) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto* const other =
        std::ranges::find(others, c, &std::pair<char, std::string_view>::first);
    if (other != others.end()) {
      result += other->second;
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

}  // namespace

bool can_write_pages() { return !page_template().empty(); }

tl::unexpected<Error> no_pages() {
  return fail(ErrorKind::usage,
              "this entrain was built without the HTML report, because npm was missing or "
              "ENTRAIN_REPORT was OFF; install nodejs and npm and build it again");
}

std::string harmless_in_script(std::string_view json) { return replaced(json, {{'<', "\\u003c"}}); }

Result<std::string> fill_template(std::string_view page, std::string_view json,
                                  std::string_view text) {
  TRY_ASSIGN(const std::string told,
             filled(page, k_text_mark, replaced(text, {{'<', "&lt;"}, {'&', "&amp;"}})));
  return filled(told, k_data_mark, harmless_in_script(json));
}

template <class Report>
Result<std::string> html(const Report& report, const Data& data, const std::string& command) {
  if (!can_write_pages()) return no_pages();
  const report::Json document = page_json(report, data, command);
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

template Result<std::string> html(const CheckReport&, const Data&, const std::string&);
template Result<std::string> html(const CorrectReport&, const Data&, const std::string&);
template Result<std::string> html(const AlignReport&, const Data&, const std::string&);

}  // namespace entrain::page
