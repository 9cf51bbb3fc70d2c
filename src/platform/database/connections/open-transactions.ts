import { AsyncLocalStorage } from 'node:async_hooks';

/** Numbers of connections that a transaction and the transactions within it hold. */
interface Held {
  connections: number;
}

const held = new AsyncLocalStorage<Held>();

/** Runs work that may open transactions. */
export const withTransactions = <T>(work: () => T): T =>
  held.getStore() ? work() : held.run({ connections: 0 }, work);

/** Counts a connection of a transaction until the returned function is called. */
export function holdConnection(): () => void {
  const store = held.getStore();
  if (!store) return () => undefined;
  store.connections += 1;
  let isHeld = true;
  return () => {
    if (isHeld) store.connections -= 1;
    isHeld = false;
  };
}

/** Whether the caller is part of an open transaction. It may need a further connection to end it. */
export const holdsConnection = (): boolean => (held.getStore()?.connections ?? 0) > 0;
