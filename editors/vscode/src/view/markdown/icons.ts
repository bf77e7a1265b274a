/** Our own icons, drawn on a grid of 16, one stroke wide, in the colour of the text. */

const SVG = "http://www.w3.org/2000/svg";

const PATHS = {
  file: "M4 1.5h5l3 3v10H4zM9 1.5v3h3",
  edit: "M2.5 13.5l.7-3L10.7 3l2.3 2.3-7.5 7.5zM9.3 4.4l2.3 2.3",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.7 3.7",
  terminal: "M1.5 2.5h13v11h-13zM4 6l2.3 2L4 10M8 10.5h3.5",
  plan: "M2 4l1 1 1.8-2M2 8.5l1 1 1.8-2M2 13l1 1 1.8-2M7.5 4.2H14M7.5 8.7H14M7.5 13.2H14",
  agent: "M8 1.5v2M3 4.5h10v7.5H3zM5.8 7.3v1.4M10.2 7.3v1.4M6 14.5h4M1.5 7v2.5M14.5 7v2.5",
  globe: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM1.5 8h13M8 1.5c4 4 4 9 0 13c-4-4-4-9 0-13z",
  question: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM6 6.3c0-2.6 4-2.6 4 0 0 1.5-2 1.6-2 3M8 11.2v.6",
  tool: "M10 2a3.5 3.5 0 0 0-3.3 4.7L2 11.4 4.6 14l4.7-4.7A3.5 3.5 0 0 0 13.9 5l-2 1.7-2.2-.6-.6-2.2L10.9 2z",
  warning: "M8 2l6.5 11.5h-13zM8 6.5v3.5M8 11.5v.6",
  check: "M2.5 8.5l3.5 3.5 7.5-8",
  cross: "M3.5 3.5l9 9M12.5 3.5l-9 9",
  chevron: "M6 3.5l4.5 4.5L6 12.5",
  stop: "M4 4h8v8H4z",
  send: "M8 13.5v-11M3.5 7L8 2.5 12.5 7",
  queue: "M2 4h12M2 8h7M2 12h7M11.5 9v5M9.5 12l2 2 2-2",
  attach: "M12.5 7.5l-5 5a3 3 0 0 1-4.3-4.3l5.5-5.5a2 2 0 0 1 2.9 2.9l-5.3 5.3a1 1 0 0 1-1.5-1.4l4.7-4.7",
  retry: "M13.5 8a5.5 5.5 0 1 1-1.6-3.9M13.5 1.5v3h-3",
  compact: "M8 1.5v4.5M6 4.2L8 6.2l2-2M8 14.5V10M6 11.8l2-2 2 2M2 8h12",
  server: "M2 2.5h12v4.5H2zM2 9h12v4.5H2zM4.5 4.8h.6M4.5 11.2h.6",
  note: "M2.5 2.5h11v8l-3 3h-8zM13.5 10.5h-3v3M5 6h6M5 9h3",
  thought: "M5 12.5a3.5 3.5 0 0 1-.6-6.9 3.8 3.8 0 0 1 7.3.3 3.3 3.3 0 0 1-.4 6.6zM4 14.5h.010",
  down: "M8 2.5v11M3.5 9L8 13.5 12.5 9",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  open: "M7 3H2.5v10.5H13V9M9.5 2.5h4v4M13.5 2.5l-6 6",
  clock: "M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM8 4.5V8l2.5 1.5",
  undo: "M3 3v4h4M3.3 7A5.3 5.3 0 1 1 4.5 12",
  up: "M3 10.5l5-5 5 5",
  plus: "M8 2.5v11M2.5 8h11",
  list: "M2.5 4h11M2.5 8h11M2.5 12h11",
  dot: "M8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z",
} as const;

export type IconName = keyof typeof PATHS;

/** The icon; a picture beside words, so hidden from readers of the page. */
export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
