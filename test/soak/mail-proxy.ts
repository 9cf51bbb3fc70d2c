import net from 'node:net';

/** A TCP proxy in front of the mail service, which can keep its clients waiting. */
export class MailProxy {
  readonly server: net.Server;
  private readonly sockets = new Set<net.Socket>();
  private hanging = false;

  constructor(target: number) {
    this.server = net.createServer((from) => {
      this.keep(from);
      // Accepted, never read.
      if (this.hanging) return;
      const to = net.connect(target, '127.0.0.1');
      this.keep(to);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const)
        one.on('close', () => other.destroy()).pipe(other);
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as net.AddressInfo).port;
  }

  /** Connections stay open and forward nothing. */
  hang(): void {
    this.hanging = true;
    for (const socket of this.sockets) socket.unpipe().pause();
  }

  /** Closes the connections that hang; new ones reach the service. */
  release(): void {
    this.hanging = false;
    for (const socket of this.sockets) socket.destroy();
  }

  stop(): void {
    this.release();
    this.server.close();
  }

  private keep(socket: net.Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
  }
}
