// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/choice.hpp"

#include <algorithm>
#include <tuple>

#include "base/cancel.hpp"
#include "base/try.hpp"

namespace entrain::net {
namespace {

/// Above this number of interfaces in a tree, SSS is not planned just to show that it fails.
constexpr std::size_t k_most_compared = 1000;

/// Returns the key of comparison of plans: the less the better.
std::tuple<bool, Femtoseconds, std::int64_t> badness(const MethodRow& row) {
  return {row.drift.interval_slots[0] == 0, row.skew[0], row.slots};
}

Choice choice_by_bound(std::span<const MethodRow> rows, const MethodRow& least) {
  Choice choice{.method = least.method, .by_bound = true, .compared = 0, .equals = {}};
  for (const MethodRow& row : rows) {
    if (!row.verification.holds()) continue;
    ++choice.compared;
    if (&row != &least && row.skew[0] == least.skew[0]) choice.equals.push_back(row.method);
  }
  return choice;
}

}  // namespace

const MethodRow& PlanChoice::row() const { return row_of(rows, choice.method); }

const MethodRow* least_bound(std::span<const MethodRow> rows) {
  const MethodRow* least = nullptr;
  for (const MethodRow& row : rows) {
    if (!row.verification.holds()) continue;
    if (least == nullptr || badness(row) < badness(*least)) least = &row;
  }
  return least;
}

Result<PlanChoice> choose_plan(const Topology& topology, const SpanningTree& tree,
                               const Parameters& parameters, const ChoiceOptions& options,
                               Progress* progress) {
  const auto is_wanted = [&](Method method) { return method == options.method; };
  const bool alone = options.method && !options.compare;
  const std::size_t interfaces = topology.interfaces().size();
  // The skew bounds of both readings take most of the time.
  if (progress != nullptr)
    progress->begin("plan", (alone ? 1 : k_methods.size()) * 2 * interfaces, "interfaces");
  PlanChoice result;
  std::optional<Error> too_large;
  for (const Method method : k_methods) {
    TRY(Cancel(progress).check());
    if (alone && !is_wanted(method)) continue;
    const bool is_large = interfaces > k_most_compared && tree.levels() > 2;
    if (method == Method::sss && !is_wanted(method) && is_large) continue;
    auto schedule = plan(topology, tree, method);
    if (!schedule && is_wanted(method)) return tl::unexpected(schedule.error());
    if (!schedule) {
      too_large = schedule.error();
      continue;
    }
    const PlannedNetwork network{topology, tree, *schedule, parameters};
    TRY_ASSIGN(MethodRow row,
               evaluate_method(network, method, options.sending, options.drift_ppb, progress));
    result.rows.push_back(std::move(row));
    const MethodRow* const least = least_bound(result.rows);
    if (options.method ? is_wanted(method) : least == &result.rows.back())
      result.schedule = std::move(*schedule);
  }
  if (options.method) {
    result.choice.method = *options.method;
    return result;
  }
  const MethodRow* const least = least_bound(result.rows);
  if (least == nullptr && too_large) return tl::unexpected(*too_large);
  if (least == nullptr) return fail(ErrorKind::usage, "no method has a plan that holds");
  result.choice = choice_by_bound(result.rows, *least);
  return result;
}

}  // namespace entrain::net
