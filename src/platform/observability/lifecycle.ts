import { Injectable } from '@nestjs/common';

/** Whether this process wants traffic. */
@Injectable()
export class Lifecycle {
  private readonly listeners: (() => void)[] = [];
  private state: 'starting' | 'serving' | 'draining' = 'starting';

  get current(): 'starting' | 'serving' | 'draining' {
    return this.state;
  }

  serving(): void {
    this.state = 'serving';
  }

  draining(): void {
    this.state = 'draining';
    for (const notify of this.listeners) notify();
  }

  /** For what keeps requests waiting: they are to be answered now. */
  onDraining(notify: () => void): void {
    this.listeners.push(notify);
  }
}
