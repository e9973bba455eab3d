// The clocks in a table, as entrain clocks prints it.
import { type Json, type Page, count, duration, isWrong, ppm, signed } from "./data";
import { type Store, el, isolated, name, section } from "./ui";

type Column = "clock" | "machine" | "state" | "offset_s" | "drift_ppm" | "bound_s" | "worst_bound_s" | "since_s" | "violations" | "edges" | "worst_s";
const k_step = 20;
const k_texts: Column[] = ["clock", "machine", "state"];

/** The time of day where times count from 1970, else since the trace began. */
function since(seconds: number, page: Page): string {
  const date = new Date(seconds * 1000);
  return seconds > 1e9 && seconds < 4e9 ? date.toISOString().slice(0, 19).replace("T", " ") + "Z" : "+" + duration(seconds - page.raw.begin_ticks / page.hz);
}

export function clocks(page: Page, store: Store): HTMLElement | null {
  const { rows, words } = page, reference = page.raw.table.reference;
  if (rows.length === 0) return null;
  let shown = k_step;
  const columns: [Column, string][] = [["clock", words.clock], ["machine", "machine"], ["state", "state"], ["offset_s", "offset"], ["drift_ppm", "drift, ppm"],
    ["bound_s", "bound"], ["worst_bound_s", "largest"], ["since_s", "since"], ["violations", "violated"], ["edges", "of"], ["worst_s", "worst"]];
  const used = columns.filter(([key]) => key === "clock" || (key !== "machine" || rows.some((r) => r.machine !== r.clock)) && rows.some((r) => r[key] !== null && (r[key] !== 0 || key === "offset_s" || key === "drift_ppm")));
  const sorted = (): [Column | "", boolean] => { const [key, way] = store.get("sort").split(" "); return [used.some(([k]) => k === key) ? (key as Column) : "", way !== "up"]; };
  const sortBy = (key: Column): void => { const [now, down] = sorted(), way = now === key ? !down : !k_texts.includes(key); store.set({ sort: `${key} ${way ? "down" : "up"}` }); };
  const body = el("tbody"), foot = el("p", { class: "note" }), more = el("button", { type: "button", class: "more", onclick: () => { shown += 10 * k_step; draw(); } }, "Show more");
  const kind = (key: Column): string => (k_texts.includes(key) ? "" : "num");
  const heads = used.map(([key, text]) => el("th", { class: kind(key), scope: "col", "data-column": key }, el("button", { type: "button", "data-key": key, onclick: () => sortBy(key) }, text)));
  const search = el("input", { type: "search", placeholder: `Search ${words.clocks}`, "aria-label": `Search ${words.clocks}`, value: store.get("find"), oninput: () => { shown = k_step; store.set({ find: search.value }); } });
  const order = (a: Json, b: Json): number => {
    const [key, down] = sorted();
    if (key === "") return 0;
    const x = a[key], y = b[key], by = k_texts.includes(key) ? String(x ?? "").localeCompare(String(y ?? ""), "en", { numeric: true }) : Math.abs(x ?? -1) - Math.abs(y ?? -1);
    return down ? -by : by;
  };
  const value = (r: Json, key: Column): Node | string => {
    const v = r[key];
    if (v === null) return key === "since_s" ? "start" : "\u2013";
    switch (key) {
      case "machine": return name(v);
      case "drift_ppm": return (v > 0 ? "+" : "") + ppm(v / 1e6);
      case "edges": case "violations": return count(v);
      case "since_s": return since(v, page);
      case "offset_s": return signed(v);
      case "worst_s": return v < 0 && r.worst_with !== null ? el("span", {}, duration(v), el("span", { class: "with" }, " with ", name(r.worst_with))) : duration(v);
      case "bound_s": case "worst_bound_s": return "\u00B1" + duration(v);
      default: return v;
    }
  };
  const cell = (r: Json, key: Column): HTMLElement => {
    if (key === "clock") return el("th", { scope: "row" }, el("button", { type: "button", class: "link", "aria-pressed": String(r.clock === store.get("clock")) }, name(r.clock)), r.clock === reference ? el("span", { class: "badge" }, "reference") : null);
    return el("td", { class: key === "state" && isWrong(r) ? "bad" : kind(key), "data-column": key, "data-value": typeof r[key] === "number" ? r[key] : undefined }, value(r, key));
  };
  const draw = (): void => {
    const wanted = store.get("find").toLowerCase(), [key, down] = sorted();
    if (search.value !== store.get("find")) search.value = store.get("find");
    const found = rows.filter((r) => !wanted || r.clock.toLowerCase().includes(wanted) || (r.machine ?? "").toLowerCase().includes(wanted)).sort(order);
    shown = Math.max(shown, found.findIndex((r) => r.clock === store.get("clock")) + 1);
    heads.forEach((h, i) => h.setAttribute("aria-sort", used[i][0] === key ? (down ? "descending" : "ascending") : "none"));
    body.replaceChildren(...found.slice(0, shown).map((r) => el("tr", { "data-clock": r.clock, class: r.clock === store.get("clock") ? "picked" : "", onclick: () => store.toggle("clock", r.clock) }, ...used.map(([k]) => cell(r, k)))));
    more.hidden = found.length <= shown;
    foot.replaceChildren(`${count(Math.min(shown, found.length))} of ${count(rows.length)} ${words.clocks}${found.length < rows.length ? `, ${count(found.length)} found` : ""}. Offset and drift: what the clock lacks, + where it is slow and \u2212 where it is fast, against `,
      reference === null ? "the clock in the middle, as no clock kept its times" : isolated(reference), ". Bound: the largest error that the offset can have where the clock communicates, median and largest",
      rows.some((r) => r.bound_s !== null) ? "." : " (proved with --bounds).");
  };
  store.listen(["clock", "sort", "find"], draw);
  draw();
  return section("clocks", `All ${words.clocks}`, null,
    rows.length > k_step ? el("div", { class: "controls" }, search) : null, el("div", { class: "scroll" }, el("table", { class: "clock-table" }, el("thead", {}, el("tr", {}, ...heads)), body)), more, foot);
}
