import { Injectable } from '@nestjs/common';
import type { Connection } from './connection.js';
import type { ClientEvent } from './event-declarations.js';

/** A client event with its handler. */
interface SocketEvent<Input extends object> extends ClientEvent<Input> {
  /** @returns the members of the acknowledgement beside `ok` */
  handle(connection: Connection, input: Input): Promise<object>;
}

/** The events that domains accept from sockets. Each domain registers its own. */
@Injectable()
export class SocketEvents {
  private readonly events = new Map<string, SocketEvent<object>>();

  register<Input extends object>(event: ClientEvent<Input>, handle: SocketEvent<Input>['handle']): void {
    if (this.events.has(event.name)) throw new Error(`the event ${event.name} is already registered`);
    this.events.set(event.name, { ...event, handle });
  }

  find(name: string): SocketEvent<object> | undefined {
    return this.events.get(name);
  }

  get names(): string[] {
    return [...this.events.keys()];
  }
}
