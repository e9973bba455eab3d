// Who comes last to collectives, and how long the others wait.
import * as Plot from "@observablehq/plot";
import { type Json, type Page, count, cut, duration, many } from "./data";
import { type Store, act, el, name, picture, section } from "./ui";

/** First and last step, wait, the rank that caused most of it, and how much. */
type Bar = [number, number, number, string | null, number];

export function stragglers(page: Page, store: Store): HTMLElement | null {
  const all: Json | null = page.raw.stragglers ?? null;
  if (all === null) return null;
  const late = new Set<string>(all.stragglers), ranks: Json[] = all.ranks.filter((r: Json) => r.wait_s > 0 || r.ties > 0), steps: Bar[] = all.steps;
  const colour = (rank: string | null): string => (rank !== null && late.has(rank) ? "var(--before)" : "var(--other)");
  const tell = (r: Json): (Node | string)[] => [el("strong", {}, name(r.rank)), `last in ${count(r.last)} of ${count(r.collectives)} collectives`, `the others wait ${duration(r.wait_s)} for it, at most ${duration(r.longest_s)} at once`,
    `it alone is missing for ${duration(r.alone_s)}`, ...(r.ties > 0 ? [`${many(r.ties, "tie", "ties")}: perhaps it was last`] : [])];
  const drawRanks = (width: number, paper: boolean): Element[] => {
    const narrow = width < 560, list = ranks.slice(0, paper ? 8 : ranks.length).map((r, i) => ({ ...r, i }) as Json);
    const plot = Plot.plot({
      width, height: list.length * 25 + 40, marginLeft: narrow ? 92 : 150, marginRight: narrow ? 76 : 190, marginTop: 8, marginBottom: 26, className: "chart",
      x: { domain: [0, Math.max(1e-9, ...list.map((r) => r.wait_s))], label: null }, y: { domain: list.map((r) => r.i), axis: null, padding: 0.28 },
      marks: [Plot.gridX({ stroke: "var(--line)", strokeOpacity: 1, ticks: Math.max(2, width / 180) }), Plot.axisX({ anchor: "bottom", tickSize: 0, ticks: Math.max(2, width / 180), tickFormat: (t: number) => duration(t, 3) }),
        Plot.barX(list, { x1: 0, x2: "wait_s", y: "i", fill: (r: Json) => colour(r.rank), className: "m-waits" }),
        Plot.barX(list, { x1: 0, x2: "alone_s", y: "i", fill: "var(--ink)", insetTop: 7, insetBottom: 7, className: "m-alone" }), Plot.ruleX([0], { stroke: "var(--ink)" }),
        Plot.text(list, { y: "i", text: (r: Json) => cut(r.rank, narrow ? 13 : 22), frameAnchor: "left", textAnchor: "end", dx: -8, fill: "var(--ink)" }),
        Plot.text(list, { y: "i", text: (r: Json) => (narrow ? duration(r.wait_s, 3) : `${duration(r.wait_s, 3)}, last in ${count(r.last)}${r.ties > 0 ? `, ${many(r.ties, "tie", "ties")}` : ""}`), frameAnchor: "right", textAnchor: "start", dx: 10, fill: (r: Json) => (late.has(r.rank) ? "var(--bad)" : "var(--muted)") })],
    });
    plot.querySelectorAll<SVGElement>("g.m-alone").forEach((g) => { g.style.pointerEvents = "none"; });
    act(plot, "waits", (i) => tell(list[i]));
    return [plot];
  };
  const drawSteps = (width: number): Element[] => {
    const plot = Plot.plot({
      width, height: 170, marginLeft: 64, marginRight: 12, marginTop: 12, marginBottom: 36, className: "chart",
      x: { label: "step", labelAnchor: "center", labelArrow: "none", labelOffset: 34, ticks: Math.min(steps.length, Math.max(2, Math.round(width / 90))), tickFormat: (t: number) => (Number.isInteger(t) ? count(t) : "") },
      y: { label: null, grid: true, ticks: 4, tickFormat: (t: number) => duration(t, 2) },
      marks: [Plot.rectY(steps, { x1: (b: Bar) => b[0] - 0.4, x2: (b: Bar) => b[1] + 0.4, y: (b: Bar) => b[2], fill: (b: Bar) => colour(b[3]), className: "m-steps" }), Plot.ruleY([0], { stroke: "var(--ink)" })],
    });
    act(plot, "steps", (i) => { const [from, to, wait, worst, most] = steps[i]; return [from === to ? `step ${count(from)}` : `steps ${count(from)} to ${count(to)}`, `the others wait ${duration(wait)}`, worst === null ? null : el("span", {}, `${duration(most)}${from === to ? "" : " in one step"} for `, name(worst))]; });
    return [plot];
  };
  const key = (colour_: string, text: string): HTMLElement => el("span", { class: "key" }, el("span", { class: "swatch", style: `--swatch:var(${colour_})` }), text);
  const longest: Json[] = all.longest.slice(0, 5), stepped = longest.some((c) => c.step !== null), figures = all.ranks_in_all - all.ranks.length;
  const row = (c: Json): HTMLElement => el("tr", {}, el("th", { scope: "row" }, name(c.operation)), el("td", {}, name(cut(c.group, 40))), stepped ? el("td", { class: "num" }, c.step === null ? "\u2013" : count(c.step)) : null, el("td", { class: "last" }, name(c.last)),
    el("td", { class: "num" }, duration(c.wait_s)), el("td", { class: "num" }, duration(c.certain_s)));
  const rest = [...(all.ties > 0 ? [`${many(all.ties, "tie", "ties")}: the clocks do not tell who was last`] : []), ...(all.unproven > 0 ? [`${count(all.unproven)} unproven`] : []), ...(all.incomplete > 0 ? [`${count(all.incomplete)} not known of all members`] : [])];
  return section("stragglers", "Stragglers", "Who comes last to a collective, by more than the clocks can be wrong, and how long the others wait for it.", el("p", { class: "lead" }, all.sentence),
    ranks.some((r) => r.wait_s > 0) ? picture(store, "waits", () => "Time that others wait", [], drawRanks) : null,
    ranks.some((r) => r.wait_s > 0) ? el("div", { class: "legend" }, late.size > 0 ? key("--before", "stands out") : null, key("--other", late.size > 0 ? "other ranks" : "sum over all who wait"), key("--ink", "this one alone is missing")) : null,
    steps.length > 1 && all.wait_s > 0 ? el("h3", {}, "Step by step") : null, steps.length > 1 && all.wait_s > 0 ? picture(store, "steps", () => "Time that others wait, by step", [], drawSteps) : null,
    longest.length > 0 ? el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, ...["operation", "group", ...(stepped ? ["step"] : []), "last", "others wait", "certain lead"].map((t) => el("th", { class: ["step", "others wait", "certain lead"].includes(t) ? "num" : "", scope: "col" }, t)))), el("tbody", {}, ...longest.map(row)))) : null,
    el("p", { class: "note" }, `Of ${many(all.collectives, "collective", "collectives")}, ${count(all.proven)} have a last one that is proved. ${rest.length > 0 ? `Others: ${rest.join("; ")}. ` : ""}${figures > 0 ? `The first ${count(all.ranks.length)} of ${count(all.ranks_in_all)} ranks. ` : ""}entrain stragglers lists all.`));
}
