import { Injectable } from '@nestjs/common';

/** Whether this process wants traffic. */
@Injectable()
export class Lifecycle {
  private state: 'starting' | 'serving' | 'draining' = 'starting';

  get current(): 'starting' | 'serving' | 'draining' {
    return this.state;
  }

  serving(): void {
    this.state = 'serving';
  }

  draining(): void {
    this.state = 'draining';
  }
}
