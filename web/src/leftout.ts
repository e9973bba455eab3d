// What the numbers above do not say.
import { type Json, type Page, count, duration, share } from "./data";
import { el, name, section } from "./ui";

const words = (key: string): string => key.replace(/_/g, " ");

function list(title: string, rows: [string, Node | string][], none: string): HTMLElement {
  return el("div", { class: "card" }, el("h3", {}, title),
    rows.length ? el("dl", {}, ...rows.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])) : el("p", { class: "note" }, none));
}
const counters = (of: Json): [string, string][] => Object.entries(of).filter(([, n]) => n > 0).map(([k, n]) => [words(k), count(n as number)]);

export function leftOut(page: Page): HTMLElement {
  const { before, raw, bounds } = page, c = before.coverage as Json, coverage: [string, Node | string][] = [
    ...(c.receives > 0 ? [[page.words.clock === "host" ? "requests and replies paired" : "receives paired", `${count(c.paired)} of ${count(c.receives)}`] as [string, string]] : []), ...(c.collective_calls > 0 ? [["collective calls used", `${count(c.in_instances)} of ${count(c.collective_calls)}`] as [string, string]] : []),
    ...(["lost", "ambiguous", "in_gaps", "alltoallv_skipped", "neighbourhood_skipped"] as const).filter((k) => c[k] > 0).map((k) => [words(k), count(c[k])] as [string, string]), ["share", share(c.share)]];
  const complete = before.completeness as Json, recorded: [string, Node | string][] = [];
  if (complete.mpi_communication !== null) recorded.push(["MPI communication", complete.mpi_communication ? "complete, says the archive" : "not complete, says the archive"]);
  for (const n of complete.incomplete) recorded.push([n, "false"]);
  for (const [k, v] of Object.entries<string>(complete.filters)) recorded.push([k, name(v)]);
  const assumptions: [string, Node | string][] = [["minimum latency", `${Object.entries<number>(before.mu_s).map(([k, v]) => `${words(k)} ${duration(v)}`).join(", ")} (${before.mu_source})`],
    ["clocks as measured", `${before.presync}${before.presync_reason ? `: ${before.presync_reason}` : ""}`]];
  if (page.done?.timeline?.presync) assumptions.push(["clocks as corrected", `${page.done.timeline.presync}${page.done.timeline.reason ? `: ${page.done.timeline.reason}` : ""}`]);
  for (const note of [...(page.done?.timeline?.notes ?? []), ...(raw.align?.notes ?? [])]) assumptions.push(["clocks", name(note)]);
  if (bounds?.reason) assumptions.push(["bounds", name(bounds.reason)]);
  else if (bounds) assumptions.push(["rates of clocks", `no clock leaves its mean by more than ${bounds.max_rate_ppm} ppm (${bounds.max_rate_source === "given" ? "given" : "from the trace"})`], ["bounds refer to", name(bounds.reference_process)]);
  if (bounds && !bounds.reason && bounds.mean_rate_ppm != null) assumptions.push(["mean rates of clocks", `within ${bounds.mean_rate_ppm} ppm of ${bounds.reference_process}'s (${bounds.mean_rate_source === "given" ? "given" : bounds.mean_rate_source === "kind" ? `usual for ${bounds.clock_kind} clocks` : "the trace demands that much"})`]);
  if (bounds && !bounds.reason && bounds.assumed_sessions > 0) assumptions.push(["sessions without a half-width", `${count(bounds.assumed_sessions)}, right to within ${duration(bounds.assumed_half_width_s)} as the edges show: bounds that rest on this are told apart`]);
  const about: [string, Node | string][] = [[raw.align ? "edges" : "archive", name(before.archive)], ["made by", `entrain ${raw.command}, version ${raw.version}`], ["events", `${count(before.events)}, ${count(before.communication_events)} of communication`],
    ["timer", `${count(page.hz)} ticks per second`], ["span", duration(page.length / page.hz)], ["needed coverage", share(before.min_coverage_share)]];
  if (raw.correct?.mode) about.push(["correction", raw.correct.mode === "planned" ? "computed, not written" : raw.correct.mode]);
  const warnings: string[] = before.warnings ?? [];
  return section("left-out", "What was left out", "What could not be checked, and what was taken for granted. A trace without violations may still be wrong where it says nothing.",
    warnings.length ? el("ul", { class: "warnings" }, ...warnings.map((w) => el("li", {}, name(w)))) : null,
    el("div", { class: "cards" }, list("Coverage", coverage, ""), list("Without a partner", counters(before.unmatched), "Every operation has its partner."), list("Skipped", counters({ ...before.skipped, ...(raw.align?.left_out ?? {}) }), "Nothing was skipped."),
      list("Recorded", recorded, "The archive says nothing of its completeness."), list("Assumptions", assumptions, ""), list("This page", about, "")));
}
