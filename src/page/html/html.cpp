// SPDX-License-Identifier: BSD-3-Clause
#include "page/html/html.hpp"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "output/mark.hpp"
#include "page/html/page_json.hpp"
#include "page/html/template.hpp"

namespace entrain::page {

namespace {

Result<std::string> page_of(const report::Json& document) {
  if (!can_write_pages()) return no_pages();
  // Bytes that are not UTF-8 are replaced.
  TRY_ASSIGN(std::string page,
             fill_template(page_template(),
                           document.dump(-1, ' ', false, report::Json::error_handler_t::replace)));
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

Result<std::string> fill_template(std::string_view page, std::string_view json) {
  const std::size_t at = page.find(k_data_mark);
  if (at == page.npos || page.find(k_data_mark, at + 1) != page.npos) {
    return fail(ErrorKind::output,
                "the template of the HTML report has no place for data; build "
                "entrain again");
  }
  std::string text(page.substr(0, at));
  text += harmless_in_script(json);
  text += page.substr(at + k_data_mark.size());
  return text;
}

Result<std::string> html(const CheckReport& report, const Data& data, const Origin& origin) {
  return page_of(page_json(report, data, origin));
}

Result<std::string> html(const CorrectReport& report, const Data& data, const Origin& origin) {
  return page_of(page_json(report, data, origin));
}

Result<std::string> html(const AlignReport& report, const Data& data, const Origin& origin) {
  return page_of(page_json(report, data, origin));
}

}  // namespace entrain::page
