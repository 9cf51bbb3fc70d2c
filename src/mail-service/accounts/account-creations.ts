import { Injectable } from '@nestjs/common';

type Listener = (address: string) => Promise<void>;

/** Notifies the delivery of new accounts: mail that waits for an address can be delivered. */
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
