/** How full the context is: figures, a bar, and the mark at which the engine compacts. Unknown figures are not shown. */

import { make, setText, show } from "../markdown/nodes";
import { money, tokens } from "../cards/figures";
import { share, type Gauge } from "../model/gauge";

export class GaugeView {
  readonly element: HTMLElement;
  private readonly bar = make("div", { class: "gauge-bar" });
  private readonly fill = make("div", { class: "gauge-fill" });
  private readonly mark = make("div", { class: "gauge-mark", title: "Compaction is due here" });
  private readonly text = make("span", { class: "gauge-text" });
  private readonly cost = make("span", { class: "gauge-cost", attributes: { "data-testid": "cost" } });

  constructor() {
    this.bar.append(this.fill, this.mark);
    this.bar.setAttribute("role", "meter");
    this.bar.setAttribute("aria-label", "Context");
    this.bar.setAttribute("aria-valuemin", "0");
    this.element = make("div", { class: "gauge" }, this.bar, this.text, this.cost);
  }

  draw(gauge: Gauge, showCost: boolean): void {
    const part = share(gauge);
    this.fill.style.width = `${(part ?? 0) * 100}%`;
    const compactShare = gauge.compactAt !== undefined && gauge.window ? gauge.compactAt / gauge.window : undefined;
    show(this.mark, compactShare !== undefined && compactShare < 1);
    if (compactShare !== undefined) this.mark.style.left = `${compactShare * 100}%`;
    const isNear = gauge.used !== undefined && gauge.compactAt !== undefined && gauge.used >= gauge.compactAt * 0.9;
    this.element.dataset.level = isNear ? "near" : "fine";
    const words = wordsOf(gauge, part);
    setText(this.text, words);
    this.text.title = gauge.compactAt === undefined ? "" : `Compaction is due at ${tokens(gauge.compactAt)} tokens`;
    this.bar.setAttribute("aria-valuemax", String(gauge.window ?? gauge.used ?? 1));
    this.bar.setAttribute("aria-valuenow", String(gauge.used ?? 0));
    this.bar.setAttribute("aria-valuetext", words);
    const isPriced = showCost && gauge.cost !== undefined && gauge.cost !== null;
    show(this.cost, isPriced);
    if (isPriced) setText(this.cost, money(gauge.cost ?? 0));
  }
}

function wordsOf(gauge: Gauge, part: number | undefined): string {
  if (gauge.used === undefined) return gauge.total > 0 ? `${tokens(gauge.total)} tokens in all` : "no tokens yet";
  if (gauge.window === undefined || part === undefined) return `${tokens(gauge.used)} tokens`;
  return `${tokens(gauge.used)} of ${tokens(gauge.window)} · ${Math.round(part * 100)} %`;
}
