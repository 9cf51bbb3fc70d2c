import { io, type Socket } from 'socket.io-client';

/** The messages of a room by `seq`, and the number of the newest change that the client has applied. */
export type Room = { modSeq: number; messages: Map<number, any> };

/** A complete chat client (docs/realtime.md). `session.resume` returns the missed changes, after any time and from any process. */
export class ExampleClient {
  readonly rooms = new Map<string, Room>();
  socket: Socket | undefined;
  private resuming: Promise<void> = Promise.resolve();

  /** @param createToken returns the `token` of `POST /apis/v1/auth/socket/token` */
  connect(base: string, createToken: () => Promise<string>): void {
    const read = () => createToken().catch(() => null);
    const auth = (use: (auth: object) => void) => void read().then((token) => use({ token }));
    const socket = io(base, { path: '/apis/v1/socket', transports: ['websocket'], forceNew: true, auth });
    this.socket = socket;
    for (const name of ['message.created', 'message.updated', 'message.deleted'])
      socket.on(name, (event) => this.received(event));
    for (const name of ['hello', 'resync', 'room.added']) socket.on(name, () => void this.resume());
    socket.on('room.removed', ({ room_id }) => this.rooms.delete(room_id));
    // Socket.IO reconnects by itself, except after a rejection or `session.closing`.
    const reconnect = () => this.socket === socket && !socket.active && socket.connect();
    for (const name of ['disconnect', 'connect_error']) socket.on(name, () => setTimeout(reconnect, 100));
  }

  disconnect(): void {
    this.socket?.close();
    this.socket = undefined;
  }

  /** Sends a message until it is acknowledged: with the same `client_msg_id` the room contains it once. */
  send(room_id: string, client_msg_id: string, body: string): Promise<any> {
    return this.request('message.send', { room_id, client_msg_id, body });
  }

  /** Reads the changes that the client lacks, in all rooms. One resume runs at a time. */
  resume(): Promise<void> {
    return (this.resuming = this.resuming.then(() => this.readChanges()));
  }

  private async readChanges(): Promise<void> {
    for (let isMore = true; isMore;) {
      const rooms = Object.fromEntries([...this.rooms].map(([id, { modSeq }]) => [id, modSeq]));
      const state = await this.request('session.resume', { rooms }, () => this.socket !== undefined);
      if (!state?.ok) return;
      for (const id of state.removed) this.rooms.delete(id);
      for (const id of state.added) this.rooms.set(id, { modSeq: 0, messages: new Map() });
      const changed = Object.entries<any>(state.rooms);
      for (const [id, { messages, mod_seq }] of changed) this.apply(id, messages, mod_seq);
      isMore = state.added.length > 0 || changed.some(([, room]) => room.more);
    }
  }

  private received({ room_id, mod_seq, prev_mod_seq, message }: any): void {
    if ((this.rooms.get(room_id)?.modSeq ?? -1) >= prev_mod_seq) this.apply(room_id, [message], mod_seq);
    else void this.resume();
  }

  private apply(roomId: string, messages: any[], modSeq: number): void {
    const room = this.rooms.get(roomId);
    if (!room || modSeq <= room.modSeq) return;
    for (const message of messages) room.messages.set(message.seq, message);
    room.modSeq = modSeq;
  }

  /** Sends an event until the server accepts or rejects it. Lost connections and rate limits are temporary. */
  private async request(name: string, payload: object, isNeeded = () => true): Promise<any> {
    while (isNeeded()) {
      const sending = this.socket?.timeout(5_000).emitWithAck(name, payload);
      const response = await sending?.catch(() => null);
      if (response?.ok || response?.status < 429) return response;
      await new Promise((resolve) => setTimeout(resolve, (response?.retry_after ?? 0.1) * 1_000));
    }
  }
}
