// Small helpers: elements without innerHTML (names of a trace are only ever text), the state that
// all views share and the address holds, pictures that can be saved.

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, any>;

function fill<T extends Element>(node: T, attributes: Attributes, children: Child[]): T {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) if (child) node.append(child);
  return node;
}
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}
/** A name from the trace: its direction of writing stays inside. */
export const name = (text: string): HTMLElement => el("bdi", { class: "name", title: text }, text);
/** The same inside of plain text: between an isolate (U+2068) and its end. */
export const isolated = (text: string): string => `\u2068${text}\u2069`;

/** What is picked, by name. It survives a reload, and can be sent, as the address holds it. */
export type Key = "view" | "clock" | "pair" | "family" | "when" | "edge" | "kind" | "sort" | "find" | "range" | "theme";
type State = Partial<Record<Key, string>>;

export class Store {
  state: State = {};
  private listeners: [Key[], () => void][] = [];
  constructor() {
    this.read();
    addEventListener("hashchange", () => { this.read(); for (const [, listener] of this.listeners) listener(); });
  }
  private read(): void {
    const hash = location.hash.slice(1);
    this.state = Object.fromEntries(new URLSearchParams(hash.includes("=") ? hash : `view=${hash}`));
  }
  get(key: Key, otherwise = ""): string { return this.state[key] ?? otherwise; }
  /** Calls `listener` when one of these changes. */
  listen(keys: Key[], listener: () => void): void { this.listeners.push([keys, listener]); }
  set(change: State): void {
    const changed = (Object.keys(change) as Key[]).filter((key) => (this.state[key] ?? "") !== change[key]);
    if (changed.length === 0) return;
    this.state = { ...this.state, ...change };
    const kept = Object.entries(this.state).filter(([, value]) => value);
    history.replaceState(null, "", `#${new URLSearchParams(kept as [string, string][])}`);
    for (const [keys, listener] of this.listeners) if (keys.some((key) => changed.includes(key))) listener();
  }
  toggle(key: Key, value: string): void { this.set({ [key]: this.state[key] === value ? "" : value }); }
}

/** Buttons of which one is pressed. */
export function segmented(store: Store, key: Key, label: string, choices: [string, string][], otherwise = choices[0][0]): HTMLElement {
  const buttons = choices.map(([value, text]) => el("button", { type: "button", "data-value": value, onclick: () => store.set({ [key]: value === otherwise ? "" : value }) }, text));
  const show = (): void => buttons.forEach((b) => b.setAttribute("aria-pressed", String(b.dataset.value === store.get(key, otherwise) || (store.get(key) === "" && b.dataset.value === otherwise))));
  store.listen([key], show);
  show();
  return el("div", { class: "segmented", role: "group", "aria-label": label }, ...buttons);
}

const tip = el("div", { class: "tip", role: "status", hidden: true });
export function showTip(event: { clientX: number; clientY: number }, ...lines: Child[]): void {
  if (!tip.isConnected) document.body.append(tip);
  tip.replaceChildren(...lines.filter((line) => line).map((line) => el("div", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  const x = Math.min(event.clientX + 14, innerWidth - box.width - 8);
  const y = event.clientY + 18 + box.height > innerHeight ? event.clientY - box.height - 10 : event.clientY + 18;
  tip.style.left = `${Math.max(8, x)}px`;
  tip.style.top = `${Math.max(8, y)}px`;
}
export const hideTip = (): void => { tip.hidden = true; };

/** A section with its one explaining line. */
export function section(id: string, title: string, explain: Child, ...children: Child[]): HTMLElement {
  return el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title), explain ? el("p", { class: "explain" }, explain) : null, ...children);
}

/** Lets marks of a plot be picked by mouse and keyboard, and tell more. `mark`: their class, without "m-". */
export function act(plot: Element, mark: string, tell: (i: number) => Child[], pick?: (i: number) => void, label?: (i: number) => string): void {
  for (const node of plot.querySelectorAll<SVGElement & { __data__: number }>(`g.m-${mark} > *`)) {
    const i = node.__data__;
    node.addEventListener("mousemove", (e) => showTip(e, ...tell(i)));
    node.addEventListener("mouseleave", hideTip);
    if (!pick) continue;
    node.classList.add("pickable");
    node.addEventListener("click", () => pick(i));
    if (!label) continue;
    fill(node, { tabindex: 0, role: "button", "aria-label": label(i), "data-key": `${mark}-${i}` }, []);
    node.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); pick(i); } });
  }
}

const k_drawn = ["fill", "fill-opacity", "stroke", "stroke-opacity", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "font-variant", "text-anchor", "paint-order", "visibility"];

/** A copy of a chart that needs no style sheet. */
function standalone(chart: SVGSVGElement): SVGSVGElement {
  const copy = chart.cloneNode(true) as SVGSVGElement, from = [chart, ...chart.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node), own = to[i] as SVGElement;
    for (const attribute of ["style", "class", "fill", "stroke"]) own.removeAttribute(attribute);
    for (const key of k_drawn) own.style.setProperty(key, style.getPropertyValue(key));
  });
  copy.querySelectorAll("style, title").forEach((node) => node.remove());
  copy.querySelectorAll("[tabindex]").forEach((node) => node.removeAttribute("tabindex"));
  return copy;
}

/** The charts of a figure below their title, as they stand on the screen. */
function wholePicture(host: HTMLElement, title: string): SVGSVGElement {
  const box = host.getBoundingClientRect(), style = getComputedStyle(host), head = 34, pad = 12;
  const card = getComputedStyle(document.documentElement).getPropertyValue("--card").trim(), width = box.width + 2 * pad, height = box.height + head + pad;
  const whole = svg("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    svg("rect", { width, height, fill: card }),
    svg("text", { x: pad, y: 22, fill: style.color, "font-family": "system-ui, sans-serif", "font-size": 15, "font-weight": 600 }, title));
  for (const chart of host.querySelectorAll<SVGSVGElement>("svg")) {
    const at = chart.getBoundingClientRect(), copy = standalone(chart);
    fill(copy, { x: at.left - box.left + pad, y: at.top - box.top + head, width: at.width, height: at.height }, []);
    whole.append(copy);
  }
  return whole;
}
function save(name: string, url: string): void {
  el("a", { href: url, download: name }).click();
}
function savePicture(host: HTMLElement, title: string, id: string, kind: string): void {
  const whole = wholePicture(host, title), text = new XMLSerializer().serializeToString(whole);
  const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  if (kind === "SVG") return save(`entrain-${id}.svg`, url);
  const image = new Image(), factor = 2;
  image.onload = () => {
    const canvas = el("canvas", { width: whole.width.baseVal.value * factor, height: whole.height.baseVal.value * factor });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    save(`entrain-${id}.png`, canvas.toDataURL("image/png"));
  };
  image.src = url;
}

/** Width of a printed picture: A4 without its margins. */
const k_paper = 760;
let printing = false;
const pictures: (() => void)[] = [];
export function drawForPaper(now: boolean): void {
  printing = now;
  for (const draw of pictures) draw();
}

/** Charts that are drawn again when the width changes or one of `keys`, with buttons that save them. */
export function picture(store: Store, id: string, title: () => string, keys: Key[], draw: (width: number, paper: boolean) => (Element | null)[]): HTMLElement {
  const host = el("div", { class: "plot" });
  let last = 0;
  const now = (): void => {
    const width = printing ? k_paper : host.clientWidth;
    if (width === 0) return;
    last = host.clientWidth;
    const key = (document.activeElement as HTMLElement | SVGElement | null)?.dataset?.key;
    hideTip();
    host.replaceChildren(...draw(width, printing).filter((node): node is Element => node !== null));
    if (key) host.querySelector<SVGElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
  };
  pictures.push(now);
  store.listen(keys, now);
  new ResizeObserver(() => { if (host.clientWidth !== last && !printing) now(); }).observe(host);
  return el("figure", { id: `${id}-picture` }, host, el("div", { class: "save" }, "Save as ", ...["SVG", "PNG"].map((kind) =>
    el("button", { type: "button", "data-save": kind, "aria-label": `Save this picture as ${kind}`, onclick: () => savePicture(host, title(), id, kind) }, kind))));
}
