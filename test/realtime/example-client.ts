import { io, type Socket } from 'socket.io-client';

/** The messages of a room by `seq`, and the number of the newest change that the client has applied. */
export interface Room {
  modSeq: number;
  messages: Map<number, any>;
}

/**
 * A complete chat client in the way of docs/realtime.md. It survives lost connections, restarts and any time offline: it stores
 * one number for each room, and `session.resume` returns what it lacks.
 */
export class ExampleClient {
  readonly rooms = new Map<string, Room>();
  socket: Socket | undefined;
  private resuming: Promise<void> = Promise.resolve();
  private readonly createToken: () => Promise<string>;

  /** @param createToken returns the `token` of `POST /apis/v1/auth/socket/token` */
  constructor(createToken: () => Promise<string>) {
    this.createToken = createToken;
  }

  /** Connects to any process of the server; Socket.IO connects again by itself. */
  connect(base: string): void {
    const auth = (use: (auth: object) => void) =>
      void this.createToken().then(
        (token) => use({ token }),
        () => use({}),
      );
    const socket = io(base, { path: '/apis/v1/socket', transports: ['websocket'], forceNew: true, auth });
    this.socket = socket;
    for (const name of ['message.created', 'message.updated', 'message.deleted'])
      socket.on(name, (event) => this.received(event));
    for (const name of ['hello', 'resync', 'room.added']) socket.on(name, () => void this.resume());
    socket.on('room.removed', ({ room_id }) => this.rooms.delete(room_id));
    // After `session.closing` the server has closed the socket: Socket.IO connects again only when asked.
    socket.on('disconnect', (reason) => reason === 'io server disconnect' && socket.connect());
    socket.on(
      'connect_error',
      () => socket.active || setTimeout(() => this.socket === socket && socket.connect(), 100),
    );
  }

  disconnect(): void {
    this.socket?.close();
    this.socket = undefined;
  }

  /** Sends until it is acknowledged: with the same `client_msg_id` the room contains the message once. */
  async send(room_id: string, client_msg_id: string, body: string): Promise<any> {
    for (;;) {
      const request = { room_id, client_msg_id, body };
      const response = await this.socket
        ?.timeout(2_000)
        .emitWithAck('message.send', request)
        .catch(() => null);
      if (response?.ok || (response && response.status < 429)) return response;
      await new Promise((resolve) => setTimeout(resolve, (response?.retry_after ?? 0.1) * 1_000));
    }
  }

  /** Reads all changes that the client lacks, in all rooms. One resume runs at a time. */
  resume(): Promise<void> {
    const previous = this.resuming;
    this.resuming = (async () => {
      await previous;
      while (await this.readChanges());
    })();
    return this.resuming;
  }

  /** @returns whether there are further changes */
  private async readChanges(): Promise<boolean> {
    const rooms = Object.fromEntries([...this.rooms].map(([id, { modSeq }]) => [id, modSeq]));
    const { socket } = this;
    const state = await socket
      ?.timeout(5_000)
      .emitWithAck('session.resume', { rooms })
      .catch(() => null);
    if (!state?.ok) {
      // Repeated on this connection; the next one begins with a resume of its own.
      await new Promise((resolve) => setTimeout(resolve, (state?.retry_after ?? 0.2) * 1_000));
      return socket === this.socket && socket?.connected === true;
    }
    for (const id of state.removed) this.rooms.delete(id);
    for (const id of state.added) this.rooms.set(id, { modSeq: 0, messages: new Map() });
    const resumed = Object.entries<any>(state.rooms);
    for (const [id, { messages, mod_seq }] of resumed) this.apply(id, messages, mod_seq);
    return state.added.length > 0 || resumed.some(([, room]) => room.more);
  }

  private received({ room_id, mod_seq, prev_mod_seq, message }: any): void {
    const room = this.rooms.get(room_id);
    if (room && mod_seq <= room.modSeq) return;
    if (room && prev_mod_seq <= room.modSeq) this.apply(room_id, [message], mod_seq);
    else void this.resume();
  }

  private apply(roomId: string, messages: any[], modSeq: number): void {
    const room = this.rooms.get(roomId);
    if (!room || modSeq <= room.modSeq) return;
    for (const message of messages) room.messages.set(message.seq, message);
    room.modSeq = modSeq;
  }
}
