import type { Type } from '@nestjs/common';

/** An event that clients send, as the AsyncAPI document describes it. */
export interface ClientEvent<Input extends object> {
  readonly name: string;
  readonly summary: string;
  /** Validated like the body of a request. */
  readonly input: Type<Input>;
  /** The members of the acknowledgement beside `ok`; null: none. */
  readonly ack: Type<object> | null;
}

/** An event that the server sends, as the AsyncAPI document describes it. */
export interface ServerEvent<Payload extends object> {
  readonly name: string;
  readonly summary: string;
  readonly payload: Type<Payload>;
}

/** All declared events, of all domains that are imported. */
export const CLIENT_EVENTS: ClientEvent<object>[] = [];
export const SERVER_EVENTS: ServerEvent<object>[] = [];

/** Declares an event of clients. Pass it to `SocketEvents.register` with its handler. */
export function defineClientEvent<Input extends object>(
  name: string,
  summary: string,
  input: Type<Input>,
  ack: Type<object> | null = null,
): ClientEvent<Input> {
  const event = { name, summary, input, ack };
  CLIENT_EVENTS.push(event);
  return event;
}

/** Declares an event of the server, for `Connection.send`. */
export function defineServerEvent<Payload extends object>(
  name: string,
  summary: string,
  payload: Type<Payload>,
): ServerEvent<Payload> {
  const event = { name, summary, payload };
  SERVER_EVENTS.push(event);
  return event;
}
