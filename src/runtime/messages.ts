import type { Worker } from 'node:cluster';
import type { MailServiceAddress } from './mail-service-process.js';

/**
 * A message of a worker to the primary. `prepared`: the database is. `accepted`: it takes a further connection. `ending`: it takes none,
 * because of an error. `failure`: it cannot start; a line for the operator.
 */
export type WorkerMessage =
  | { prepared: true }
  | { ready: true; banner: string | undefined }
  | { accepted: true }
  | { ending: true }
  | { failure: string; exitCode: number };

/** A message of the primary to a worker. The socket of a connection comes with `connection`. */
export type PrimaryMessage = { prepare: true } | { serve: ServeSettings } | { connection: true };

export interface ServeSettings {
  /** The embedded mail service; undefined: that of the settings. */
  mail: MailServiceAddress | undefined;
}

type KeyOf<Message> = Message extends unknown ? keyof Message : never;

/** A message with one of these members. */
export type MessageWith<Message, Key extends PropertyKey> = Message extends unknown
  ? Key & keyof Message extends never
    ? never
    : Message
  : never;

/** Waits for the first message with one of the members. */
function received<Message, Key extends KeyOf<Message>>(
  receiver: Pick<NodeJS.EventEmitter, 'on' | 'off'>,
  keys: readonly Key[],
): Promise<MessageWith<Message, Key>> {
  return new Promise((resolve) => {
    const listener = (message: object): void => {
      if (!keys.some((key) => key in message)) return;
      receiver.off('message', listener);
      resolve(message as MessageWith<Message, Key>);
    };
    receiver.on('message', listener);
  });
}

/** The first message of the primary with one of these members. */
export const fromPrimary = <Key extends KeyOf<PrimaryMessage>>(
  ...keys: Key[]
): Promise<MessageWith<PrimaryMessage, Key>> => received<PrimaryMessage, Key>(process, keys);

/** The first message of a worker with one of these members. */
export const fromWorker = <Key extends KeyOf<WorkerMessage>>(
  worker: Worker,
  ...keys: Key[]
): Promise<MessageWith<WorkerMessage, Key>> => received<WorkerMessage, Key>(worker, keys);
