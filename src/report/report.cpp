// SPDX-License-Identifier: BSD-3-Clause
#include "report/report.hpp"

#include <nlohmann/json.hpp>

namespace entrain::report {

template <class Report>
std::string json_text(const Report& report) {
  return dump(to_json(report));
}

template std::string json_text(const AlignReport&);
template std::string json_text(const ArchiveInfo&);
template std::string json_text(const CheckReport&);
template std::string json_text(const CompareReport&);
template std::string json_text(const CorrectReport&);
template std::string json_text(const EdgesReport&);
template std::string json_text(const ExportReport&);
template std::string json_text(const FitReport&);
template std::string json_text(const MergeReport&);
template std::string json_text(const PartReport&);
template std::string json_text(const StragglerReport&);

}  // namespace entrain::report
