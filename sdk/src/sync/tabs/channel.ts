import type { ChangedIds } from '../rows/rows.js';
import type { SyncState } from '../sync-state.js';

/** What the tabs of a workspace tell each other. The tab that synchronises is one of them. */
export type Message =
  | { kind: 'changed'; changed: ChangedIds }
  /** Something was saved: it is sent now, or by the next attempt after a failure. */
  | { kind: 'saved' }
  /** The next attempt begins now: the connection may be back, or a tab asks for a synchronisation, whose end `synced` reports. */
  | { kind: 'wake'; request?: string }
  | { kind: 'synced'; requests: string[]; error?: string }
  | { kind: 'state'; state: SyncState }
  /** Another tab synchronises from now on: requests to its predecessor are lost. */
  | { kind: 'leading' };

/** Delivers messages to this tab, and to the other ones that use the same store. */
export class Channel {
  private readonly listeners = new Set<(message: Message) => void>();
  private readonly others: BroadcastChannel | undefined;

  /** @param name of the store; undefined: no other tab uses it */
  constructor(name: string | undefined) {
    if (name === undefined || typeof BroadcastChannel !== 'function') return;
    this.others = new BroadcastChannel(`workspace-sync ${name}`);
    this.others.addEventListener('message', ({ data }: MessageEvent<Message>) => this.deliver(data));
    // Node: an open channel does not keep the process alive.
    (this.others as unknown as { unref?: () => void }).unref?.();
  }

  /** @returns a function that removes the listener */
  on(listener: (message: Message) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  send(message: Message): void {
    this.others?.postMessage(message);
    this.deliver(message);
  }

  close(): void {
    this.listeners.clear();
    this.others?.close();
  }

  private deliver(message: Message): void {
    for (const listener of this.listeners) listener(message);
  }
}
