/**
 * The one place that asks for animation frames and idle time. Work is named: asking twice for the same is asking once.
 * A frame gets 8 ms, what was asked for last goes first; what is left over waits for the next. Nothing is scheduled at rest.
 */

const BUDGET_MS = 8;

export class Frames {
  private readonly work = new Map<unknown, () => void>();
  private readonly idleWork = new Map<unknown, () => boolean>();
  private frame = 0;
  private idle = 0;

  /** Does it in the next frame. */
  ask(name: unknown, work: () => void): void {
    this.work.delete(name);
    this.work.set(name, work);
    if (this.frame === 0) this.frame = requestAnimationFrame(this.draw);
  }

  /** Does it slice by slice in idle time, as long as it returns true. */
  askIdle(name: unknown, work: () => boolean): void {
    this.idleWork.set(name, work);
    if (this.idle === 0) this.idle = requestIdleCallback(this.relax, { timeout: 2_000 });
  }

  /** It is not wanted any more. */
  forget(name: unknown): void {
    this.work.delete(name);
    this.idleWork.delete(name);
  }

  private readonly draw = (): void => {
    this.frame = 0;
    const started = performance.now();
    const names = [...this.work.keys()].reverse();
    for (const [index, name] of names.entries()) {
      if (index > 0 && performance.now() - started > BUDGET_MS) break;
      const work = this.work.get(name);
      this.work.delete(name);
      work?.();
    }
    if (this.work.size > 0 && this.frame === 0) this.frame = requestAnimationFrame(this.draw);
  };

  private readonly relax = (deadline: IdleDeadline): void => {
    this.idle = 0;
    for (const [name, work] of this.idleWork) {
      this.idleWork.delete(name);
      if (work()) this.idleWork.set(name, work);
      if (deadline.timeRemaining() < 2) break;
    }
    if (this.idleWork.size > 0) this.idle = requestIdleCallback(this.relax, { timeout: 2_000 });
  };
}
