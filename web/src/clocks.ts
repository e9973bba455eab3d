// View 5: the clocks in a table.
import { type Page, count, duration, offsetAt, ppm } from "./data";
import { type Store, el, isolated, name, section } from "./ui";

interface Row { clock: number; name: string; node: string; offset: number; rate: number; bound: number | null; unbounded: boolean; sessions: number; moved: number }
type Key = Exclude<keyof Row, "clock" | "unbounded">;

const k_step = 20;

export function clocks(page: Page, store: Store): HTMLElement {
  const c = page.clocks, hz = page.hz, reference = c.reference;
  const rows: Row[] = c.names.map((text, i) => ({ clock: i, name: text, node: page.nodes[c.nodes[i]],
    offset: (c.final[i][1] - offsetAt(c.final[reference], c.final[i][0])) / hz, rate: c.final[i][2] - c.final[reference][2],
    bound: c.bounds[i] === null ? null : c.bounds[i]! / hz, unbounded: c.unbounded[i] === 1, sessions: c.sessions[i], moved: c.moved[i] / hz })).filter((r) => c.used[r.clock]);
  let sort: Key = page.corrected ? "moved" : rows.some((r) => r.bound !== null) ? "bound" : "name", down = sort !== "name", shown = k_step, wanted = "";
  const columns: [Key, string, string][] = [["name", "clock", ""], ["node", "machine", ""], ["offset", "offset", "num"], ["rate", "rate (ppm)", "num"],
    ["bound", "bound", "num"], ["sessions", "sessions", "num"], ["moved", "moved by", "num"]];
  const used = columns.filter(([key]) => (key !== "moved" || page.corrected));
  const body = el("tbody"), foot = el("p", { class: "note" }), more = el("button", { type: "button", onclick: () => { shown += 10 * k_step; draw(); } }, "Show more");
  const heads = used.map(([key, text, kind]) => el("th", { class: kind, scope: "col" }, el("button", { type: "button", "data-key": key, onclick: () => { down = sort === key ? !down : key !== "name" && key !== "node"; sort = key; draw(); } }, text)));
  const search = el("input", { type: "search", placeholder: "Search clocks and machines", "aria-label": "Search clocks and machines", oninput: () => { wanted = search.value.toLowerCase(); shown = k_step; draw(); } });
  const value = (r: Row): number | string => { const v = r[sort]; return v === null ? -1 : typeof v === "number" && ["offset", "rate", "moved"].includes(sort) ? Math.abs(v) : v; };
  const draw = (): void => {
    const found = rows.filter((r) => wanted === "" || r.name.toLowerCase().includes(wanted) || r.node.toLowerCase().includes(wanted));
    found.sort((a, b) => { const x = value(a), y = value(b); const order = typeof x === "string" ? x.localeCompare(y as string, "en", { numeric: true }) : x - (y as number); return (down ? -order : order) || a.clock - b.clock; });
    const picked = found.findIndex((r) => r.clock === store.state.clock);
    if (picked >= shown) shown = picked + 1;
    heads.forEach((h, i) => h.setAttribute("aria-sort", used[i][0] === sort ? (down ? "descending" : "ascending") : "none"));
    body.replaceChildren(...found.slice(0, shown).map((r) => el("tr", { "data-clock": r.clock, class: r.clock === store.state.clock ? "picked" : "", onclick: () => store.pick(r.clock) },
      ...used.map(([key, , kind]) => cell(r, key, kind)))));
    more.hidden = found.length <= shown;
    foot.replaceChildren(`${count(Math.min(shown, found.length))} of ${count(rows.length)} clocks${found.length < rows.length ? `, ${count(found.length)} found` : ""}. Offset: at the first event of the clock, and rate over its events, `
      + `against ${isolated(c.names[reference])}${page.corrected ? " and after the correction" : ""}. Bound: the largest error possible${rows.some((r) => r.bound !== null) ? "" : " (proved with --bounds)"}. Sessions: measurements of the clock. ${page.corrected ? "Moved by: the largest change that the correction makes to a time." : ""}`);
  };
  const cell = (r: Row, key: Key, kind: string): HTMLElement => {
    if (key === "name") return el("th", { scope: "row" }, el("button", { type: "button", class: "link", "aria-pressed": String(r.clock === store.state.clock), onclick: (e: Event) => { e.stopPropagation(); store.pick(r.clock); } }, name(r.name)),
      r.clock === reference ? el("span", { class: "badge" }, "reference") : null);
    const text = key === "node" ? name(r.node) : key === "rate" ? ppm(r.rate) : key === "sessions" ? count(r.sessions)
      : key === "bound" ? (r.bound === null ? "\u2013" : `${duration(r.bound)}${r.unbounded ? " *" : ""}`) : duration(r[key] as number);
    return el("td", { class: kind, "data-value": typeof r[key] === "number" ? r[key] : undefined, title: key === "bound" && r.unbounded ? "in some windows nothing ties the clock to the reference" : undefined }, text);
  };
  store.listen((_s, changed) => {
    if (changed !== "clock") return;
    draw();
  });
  draw();
  return section("clocks", "Clocks", "One line per clock: how far it is off, how fast it runs away (a part per million is 86 ms per day), and how certain that is.",
    el("div", { class: "controls" }, search), el("div", { class: "scroll" }, el("table", { class: "clock-table" }, el("thead", {}, el("tr", {}, ...heads)), body)), more, foot);
}
