import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** A TCP proxy in front of a service, which can keep its clients waiting. */
export class FaultProxy {
  readonly server: net.Server;
  private readonly sockets = new Set<net.Socket>();
  private hanging = false;
  /** Milliseconds that each piece of data waits, in both directions. */
  private delayMs = 0;

  constructor(target: number) {
    this.server = net.createServer((from) => {
      this.keep(from);
      // The connection is accepted and never read.
      if (this.hanging) return;
      const to = net.connect(target, '127.0.0.1');
      this.keep(to);
      for (const [one, other] of [
        [from, to],
        [to, from],
      ] as const)
        void this.forward(
          one.on('close', () => other.destroy()),
          other,
        );
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return (this.server.address() as net.AddressInfo).port;
  }

  /** Connections stay open and forward nothing. */
  hang(): void {
    this.hanging = true;
  }

  /** @param ms how long each piece of data waits; 0: as usual */
  slow(ms: number): void {
    this.delayMs = ms;
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

  private async forward(from: net.Socket, to: net.Socket): Promise<void> {
    try {
      for await (const data of from) {
        if (this.delayMs > 0) await delay(this.delayMs);
        // Waits until the connection is closed.
        if (this.hanging) return await new Promise(() => undefined);
        if (!to.write(data as Buffer))
          await new Promise((resolve) => to.once('drain', resolve).once('close', resolve));
      }
      to.end();
    } catch {
      to.destroy();
    }
  }

  private keep(socket: net.Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => socket.destroy()).on('close', () => this.sockets.delete(socket));
  }
}
