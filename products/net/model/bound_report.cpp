// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/bound_report.hpp"

namespace entrain::net {

DriftRow drift_row(const Parameters& parameters, const BothReadings& skew, std::int64_t slots,
                   std::int64_t drift_ppb) {
  DriftRow row;
  row.drift_ppb = drift_ppb;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t interval = interval_slots(parameters, skew[i], drift_ppb);
    row.interval_slots[i] = interval < slots ? 0 : interval;
    row.overhead_share[i] = overhead_share(slots, row.interval_slots[i]);
  }
  return row;
}

BoundReport evaluate_bound(const Parameters& parameters, std::int64_t ports, std::int64_t levels,
                           const std::vector<std::int64_t>& drifts_ppb) {
  BoundReport report;
  report.parameters = parameters;
  report.levels = levels;
  report.ports = ports;
  report.slots = full_tree_slots(ports, levels);
  report.gap1 = gap1(parameters, 1);
  report.gap2 = gap2(parameters, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    report.gap3[i] = gap3(parameters, 1, k_readings[i]);
    report.lag[i] = lag_range(parameters, 1, 1, k_readings[i]);
    report.sss[i] = skew_of_sss(parameters, k_readings[i]);
    report.hss[i] = skew_of_hss(parameters, levels, k_readings[i]);
  }
  for (const std::int64_t drift_ppb : drifts_ppb)
    report.drifts.push_back(drift_row(parameters, report.hss, report.slots, drift_ppb));
  return report;
}

}  // namespace entrain::net
