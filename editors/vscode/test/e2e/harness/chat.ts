/** The chat view as a person uses it: found by roles and names wherever there are any. */

import type { FrameLocator } from '@playwright/test';
import type { Workbench } from './workbench';

export class Chat {
  constructor(private readonly bench: Workbench) {}

  get frame(): FrameLocator {
    return this.bench.view;
  }
}
