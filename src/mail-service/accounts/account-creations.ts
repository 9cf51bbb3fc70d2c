import { Injectable } from '@nestjs/common';

type Listener = (address: string) => Promise<void>;

/** Reports new accounts to the delivery, which can then deliver the mail that waits for them. */
@Injectable()
export class AccountCreations {
  private readonly listeners: Listener[] = [];

  listen(listener: Listener): void {
    this.listeners.push(listener);
  }

  async created(address: string): Promise<void> {
    for (const listener of this.listeners) await listener(address);
  }
}
