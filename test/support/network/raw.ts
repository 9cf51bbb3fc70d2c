import { connect } from 'node:net';
import type { TestApp } from '../app.ts';

/** Sends bytes unchanged and collects the response until it is complete or the connection ends. */
export async function rawExchange(
  app: TestApp,
  bytes: string | Buffer,
  whole = (text: string) => /\r\n\r\n.*\}$/s.test(text),
): Promise<string> {
  const { hostname, port } = new URL(app.base);
  const socket = connect(Number(port), hostname);
  return new Promise((resolve, reject) => {
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString();
      if (whole(text)) socket.destroy();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => (text ? undefined : reject(error)));
    socket.on('close', () => resolve(text));
    socket.write(bytes);
  });
}
