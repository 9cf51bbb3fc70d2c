import { Injectable } from '@nestjs/common';

/** The state that the readiness probe reports. */
@Injectable()
export class Lifecycle {
  private readonly listeners: (() => void)[] = [];
  private state: 'starting' | 'serving' | 'draining' = 'starting';

  get current(): 'starting' | 'serving' | 'draining' {
    return this.state;
  }

  markServing(): void {
    this.state = 'serving';
  }

  markDraining(): void {
    this.state = 'draining';
    for (const notify of this.listeners) notify();
  }

  /** Registers a listener for the start of draining, e.g. to end long polls. */
  onDraining(notify: () => void): void {
    this.listeners.push(notify);
  }
}
