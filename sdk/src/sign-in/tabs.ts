/** What the tabs of an origin tell each other. */
export type TabMessage = { kind: 'tokens'; access: Access } | { kind: 'signed-out' };

/** An access token. */
export interface Access {
  /** Names it without revealing it: the storage keeps the name of the newest one. */
  id: string;
  token: string;
  /** Milliseconds, as `Date.now()`. */
  expiresAt: number;
}

/** Sends messages to the other tabs of the origin, where the platform has BroadcastChannel. Access tokens are in no storage. */
export class Tabs {
  private readonly channel: BroadcastChannel | undefined;

  constructor(name: string, onMessage: (message: TabMessage) => void) {
    if (typeof BroadcastChannel !== 'function') return;
    this.channel = new BroadcastChannel(name);
    this.channel.addEventListener('message', ({ data }: MessageEvent<TabMessage>) => onMessage(data));
    // Node: an open channel does not keep the process alive.
    (this.channel as unknown as { unref?: () => void }).unref?.();
  }

  send(message: TabMessage): void {
    this.channel?.postMessage(message);
  }

  close(): void {
    this.channel?.close();
  }
}
