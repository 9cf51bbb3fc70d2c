import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { Errors } from './errors.js';
import { JSON_HEADERS } from './security-headers.js';

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};
const STATUS_BY_CODE: Record<string, number> = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 };

/** Answers what is no HTTP request in the one error shape too; Node by itself would send a bare status line. */
export function answerClientErrors(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const status = STATUS_BY_CODE[error.code ?? ''] ?? 400;
    const { code, message } = Errors.badRequest;
    const body = JSON.stringify({ error: code, message });
    const headers = [...JSON_HEADERS, ['Content-Length', String(body.length)], ['Connection', 'close']];
    const head = headers.map(([name, value]) => `${name}: ${value}`).join('\r\n');
    socket.end(`HTTP/1.1 ${status} ${REASONS[status]}\r\n${head}\r\n\r\n${body}`);
  });
}
