// View 1: the clocks in a table, as entrain clocks prints it.
import { type Json, type Page, count, duration, ppm } from "./data";
import { type Store, el, isolated, name, section } from "./ui";

type Key = "clock" | "machine" | "state" | "offset_s" | "drift_ppm" | "bound_s" | "worst_bound_s" | "since_s" | "violations" | "edges" | "worst_s";
const k_step = 20;
const k_texts: Key[] = ["clock", "machine", "state"];

/** The time of day where times count from 1970, else since the trace began. */
function since(seconds: number, page: Page): string {
  const date = new Date(seconds * 1000);
  return seconds > 1e9 && seconds < 4e9 ? date.toISOString().slice(0, 19).replace("T", " ") + "Z" : "+" + duration(seconds - page.raw.begin_ticks / page.hz);
}

export function clocks(page: Page, store: Store): HTMLElement {
  const table = page.raw.table, rows: Json[] = table.clocks;
  const index = new Map(page.clocks.names.map((text, i) => [text, i]));
  let sort: Key | null = null, down = true, shown = k_step, wanted = "";
  const columns: [Key, string, string][] = [["clock", "clock", ""], ["machine", "machine", ""], ["state", "state", ""], ["offset_s", "offset", "num"], ["drift_ppm", "drift", "num"],
    ["bound_s", "bound", "num"], ["worst_bound_s", "largest", "num"], ["since_s", "since", "num"], ["violations", "violated", "num"], ["edges", "edges", "num"], ["worst_s", "worst", "num"]];
  const used = columns.filter(([key]) => key === "clock" || rows.some((r) => r[key] !== null && (r[key] !== 0 || key === "offset_s" || key === "drift_ppm")));
  const body = el("tbody"), foot = el("p", { class: "note" }), more = el("button", { type: "button", onclick: () => { shown += 10 * k_step; draw(); } }, "Show more");
  const heads = used.map(([key, text, kind]) => el("th", { class: kind, scope: "col" }, el("button", { type: "button", "data-key": key, onclick: () => { down = sort === key ? !down : !k_texts.includes(key); sort = key; draw(); } }, text)));
  const search = el("input", { type: "search", placeholder: "Search clocks and machines", "aria-label": "Search clocks and machines", oninput: () => { wanted = search.value.toLowerCase(); shown = k_step; draw(); } });
  const order = (a: Json, b: Json): number => {
    if (sort === null) return 0;
    const x = a[sort], y = b[sort];
    const by = k_texts.includes(sort) ? String(x ?? "").localeCompare(String(y ?? ""), "en", { numeric: true }) : Math.abs(x ?? -1) - Math.abs(y ?? -1);
    return down ? -by : by;
  };
  const draw = (): void => {
    const found = rows.filter((r) => wanted === "" || r.clock.toLowerCase().includes(wanted) || (r.machine ?? "").toLowerCase().includes(wanted)).sort(order);
    const picked = found.findIndex((r) => index.get(r.clock) === store.state.clock);
    if (picked >= shown) shown = picked + 1;
    heads.forEach((h, i) => h.setAttribute("aria-sort", used[i][0] === sort ? (down ? "descending" : "ascending") : "none"));
    body.replaceChildren(...found.slice(0, shown).map((r) => el("tr", { "data-clock": index.get(r.clock), class: index.get(r.clock) === store.state.clock ? "picked" : "", onclick: () => pick(r) },
      ...used.map(([key, , kind]) => cell(r, key, kind)))));
    more.hidden = found.length <= shown;
    foot.replaceChildren(`${count(Math.min(shown, found.length))} of ${count(rows.length)} clocks${found.length < rows.length ? `, ${count(found.length)} found` : ""}. Offset and drift: what the clock lacks, + where it is slow and \u2212 where it is fast, against `,
      table.reference === null ? "the clock in the middle, as no clock kept its times" : isolated(table.reference), ". Bound: the largest error that the offset can have where the clock communicates, median and largest",
      rows.some((r) => r.bound_s !== null) ? "." : " (proved with --bounds).");
  };
  const pick = (r: Json): void => { const clock = index.get(r.clock); if (clock !== undefined) store.pick(clock); };
  const cell = (r: Json, key: Key, kind: string): HTMLElement => {
    const value = r[key];
    if (key === "clock") return el("th", { scope: "row" }, el("button", { type: "button", class: "link", "aria-pressed": String(index.get(r.clock) === store.state.clock), onclick: (e: Event) => { e.stopPropagation(); pick(r); } }, name(r.clock)),
      r.clock === table.reference ? el("span", { class: "badge" }, "reference") : null);
    const sign = typeof value === "number" && value > 0 ? "+" : "";
    const text = value === null ? (key === "since_s" ? "start" : "\u2013") : key === "machine" ? name(value) : key === "state" ? value : key === "drift_ppm" ? sign + ppm(value / 1e6)
      : key === "edges" || key === "violations" ? count(value) : key === "since_s" ? since(value, page) : key === "offset_s" ? sign + duration(value)
      : key === "worst_s" ? (value < 0 && r.worst_with !== null ? el("span", {}, duration(value) + " with ", name(r.worst_with)) : duration(value)) : "\u00B1" + duration(value);
    return el("td", { class: key === "state" && value !== "right" && value !== "untied" ? "bad" : kind, "data-value": typeof value === "number" ? value : undefined }, text);
  };
  store.listen((_s, changed) => {
    if (changed !== "clock") return;
    draw();
  });
  draw();
  return section("clocks", "Clocks", table.sentence || "The clocks of a trace with violations that is too large for a check: entrain clocks shows them.",
    el("div", { class: "controls" }, search), el("div", { class: "scroll" }, el("table", { class: "clock-table" }, el("thead", {}, el("tr", {}, ...heads)), body)), more, foot);
}
