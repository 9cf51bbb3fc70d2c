import type { WorkspaceClient } from '../../client.js';
import { delay } from '../../delay.js';
import { ApiError, unwrap } from '../../errors.js';
import type { WorkspaceSocket } from '../../sockets/workspace-socket.js';
import { Alarm } from './alarm.js';
import type { Channel } from '../tabs/channel.js';
import type { Heads, Puller } from './puller.js';
import type { Pusher } from './pusher.js';
import { StoreFullError } from '../store.js';
import type { SyncPhase, SyncState } from '../sync-state.js';

/** Seconds that the service delays an empty response; its maximum. */
const POLL_SECONDS = 25;
/** Milliseconds until the next attempt; doubles up to the maximum. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** Attempts to send changes of objects that others change at the same time, until a pause. */
const MAX_ATTEMPTS = 5;
const INCOMPLETE = 'The service does not take all changes at the moment.';

interface Parts {
  client: WorkspaceClient;
  pusher: Pusher;
  puller: Puller;
  channel: Channel;
  /** Its hints replace the poll that waits. */
  socket: WorkspaceSocket | undefined;
}

/** Synchronises: sends, reads, and waits for the next change of either side. Sending and reading never overlap. */
export class SyncLoop {
  /** Ends the wait for a change of either side. */
  private readonly alarm = new Alarm();
  /** Ends the pause after a failure. Saves do not: without a connection, each would start an attempt. */
  private readonly retry = new Alarm();
  private requests: string[] = [];
  private failures = 0;

  constructor(private readonly parts: Parts) {}

  /** Something was saved. */
  saved(): void {
    this.alarm.ring();
  }

  /** The service may have a change, the connection may be back, or a tab asks for a synchronisation. */
  wake(request?: string): void {
    if (request !== undefined) this.requests.push(request);
    this.alarm.ring();
    this.retry.ring();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { socket, channel } = this.parts;
    // A change before the socket is connected gives no hint, and one after its end neither.
    const removals = [socket?.on('changed', () => this.wake()), socket?.on('state', () => this.wake())];
    channel.send({ kind: 'leading' });
    try {
      for (let heads: Heads | undefined; !signal.aborted;) heads = await this.round(heads, signal);
    } finally {
      for (const remove of removals) remove?.();
    }
  }

  /** @param heads if they are known @returns the heads of the next round */
  private async round(known: Heads | undefined, signal: AbortSignal): Promise<Heads | undefined> {
    this.alarm.reset();
    this.retry.reset();
    const requests = this.requests.splice(0);
    // Not when the request comes: a round that reads a list at this time would store it as new.
    if (requests.length > 0) this.parts.puller.refresh();
    try {
      this.enter({ phase: 'syncing' });
      const { heads, isComplete } = await this.synchronise(known, signal);
      this.parts.channel.send({ kind: 'synced', requests, ...(!isComplete && { error: INCOMPLETE }) });
      if (!isComplete) return await this.pause({ phase: 'waiting', message: INCOMPLETE }, signal);
      this.failures = 0;
      this.enter({ phase: 'idle' });
      return await this.alarm.interrupt(signal, (end) => this.nextHeads(heads, end));
    } catch (error) {
      if (signal.aborted) return undefined;
      const state = { phase: phaseOf(error), message: messageOf(error) };
      this.parts.channel.send({ kind: 'synced', requests, error: state.message });
      return this.pause(state, signal);
    }
  }

  /** Sends until nothing is left that can be sent, and reads what has changed. */
  private async synchronise(
    known: Heads | undefined,
    signal: AbortSignal,
  ): Promise<{ heads: Heads; isComplete: boolean }> {
    let heads = known;
    for (let attempts = 1; ; attempts += 1) {
      const { done, conflicts, waits } = await this.parts.pusher.push(signal);
      if (!heads || done + conflicts > 0) heads = await this.readHeads({}, signal);
      await this.parts.puller.pull(heads, signal);
      if (!waits && done + conflicts === 0) return { heads, isComplete: true };
      // Merged changes, and what was saved after a request that is now done, can be sent now.
      if (waits || (done === 0 && attempts >= MAX_ATTEMPTS)) return { heads, isComplete: false };
    }
  }

  private nextHeads(heads: Heads, end: AbortSignal): Promise<Heads> {
    const { socket } = this.parts;
    if (socket?.state === 'connected') return new Promise((_resolve, reject) => whenAborted(end, reject));
    return this.readHeads({ head: heads.head, wait: POLL_SECONDS }, end);
  }

  private async readHeads(query: { head?: number; wait?: number }, signal: AbortSignal): Promise<Heads> {
    return unwrap(await this.parts.client.GET('/sync/state', { params: { query }, signal }));
  }

  private async pause(state: SyncState, signal: AbortSignal): Promise<undefined> {
    this.enter(state);
    const wait = Math.min(RETRY_MS * 2 ** this.failures, MAX_RETRY_MS) * (0.5 + Math.random() / 2);
    this.failures += 1;
    await this.retry.interrupt(signal, (end) => delay(wait, end));
    return undefined;
  }

  private enter(state: SyncState): void {
    this.parts.channel.send({ kind: 'state', state });
  }
}

function whenAborted(signal: AbortSignal, call: (reason: unknown) => void): void {
  if (signal.aborted) call(signal.reason);
  else signal.addEventListener('abort', () => call(signal.reason), { once: true });
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function phaseOf(error: unknown): SyncPhase {
  if (error instanceof StoreFullError) return 'storage-full';
  if (!(error instanceof ApiError)) return error instanceof TypeError ? 'offline' : 'failed';
  return error.status === 401 ? 'signed-out' : error.status >= 500 ? 'offline' : 'failed';
}
