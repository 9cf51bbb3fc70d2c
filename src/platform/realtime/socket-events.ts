import { Injectable } from '@nestjs/common';
import type { Connection } from './connection.js';

/** An event that clients send. */
export interface SocketEvent<Input extends object> {
  readonly name: string;
  /** Validated like the body of a request. */
  readonly input: new () => Input;
  /** @returns the members of the acknowledgement beside `ok` */
  handle(connection: Connection, input: Input): Promise<object>;
}

/** The events that domains accept from sockets. Each domain registers its own. */
@Injectable()
export class SocketEvents {
  private readonly events = new Map<string, SocketEvent<object>>();

  register<Input extends object>(event: SocketEvent<Input>): void {
    if (this.events.has(event.name)) throw new Error(`the event ${event.name} is already registered`);
    this.events.set(event.name, event);
  }

  find(name: string): SocketEvent<object> | undefined {
    return this.events.get(name);
  }
}
