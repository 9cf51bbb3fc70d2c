import net from 'node:net';

const HEADERS_END = Buffer.from('\r\n\r\n');
/** Of a chunked response. No text of the benches contains it. */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n');

/**
 * A keep-alive connection with one request in flight at a time. It reads no more of a response than the status and the
 * length, so that on a small machine the load generator leaves the processor to the measured processes.
 */
export class Connection {
  #socket;
  #onResponse;
  #onError;
  #pending = [];
  #received = 0;
  #expected = -1;
  #bodyStart = 0;
  #status = 0;
  #isChunked = false;

  static open(port) {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host: '127.0.0.1', noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => {
        socket.off('error', reject);
        resolve(new Connection(socket));
      });
    });
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (chunk) => this.#read(chunk));
    const broken = (error) => this.#onError?.(error ?? new Error('the server closed the connection'));
    socket.on('error', broken);
    socket.on('close', () => broken());
  }

  /**
   * @param onResponse receives the status and the chunks of the response, headers included
   * @param onError called when the connection ends
   */
  send(request, onResponse, onError) {
    this.#onResponse = onResponse;
    this.#onError = onError;
    this.#socket.write(request);
  }

  /** Sends a request and reads its response in full. */
  exchange(request) {
    return new Promise((resolve, reject) => {
      const onEnd = (status, chunks) => {
        const body = Buffer.concat(chunks).subarray(this.#bodyStart).toString();
        resolve({ status, body });
      };
      this.send(request, onEnd, reject);
    });
  }

  close() {
    this.#onError = undefined;
    this.#socket.destroy();
  }

  #read(chunk) {
    this.#pending.push(chunk);
    this.#received += chunk.length;
    if (this.#expected < 0) this.#readHead();
    if (this.#expected < 0 || this.#received < this.#expected) return;
    if (this.#isChunked && !this.#hasLastChunk()) return;
    const chunks = this.#pending;
    this.#pending = [];
    this.#received = 0;
    this.#expected = -1;
    this.#onResponse(this.#status, chunks);
  }

  #readHead() {
    if (this.#pending.length > 1) this.#pending = [Buffer.concat(this.#pending)];
    const [start] = this.#pending;
    const end = start.indexOf(HEADERS_END);
    if (end < 0) return;
    const text = start.latin1Slice(0, end);
    const length = /\r\ncontent-length: (\d+)/i.exec(text);
    this.#isChunked = /\r\ntransfer-encoding: chunked/i.test(text);
    if (!length && !this.#isChunked) return this.#onError?.(new Error(`no length in ${text}`));
    this.#status = Number(text.slice(9, 12));
    this.#bodyStart = end + HEADERS_END.length;
    this.#expected = this.#bodyStart + Number(length?.[1] ?? 0);
  }

  #hasLastChunk() {
    const { length } = LAST_CHUNK;
    const end = Buffer.concat(this.#pending.slice(-length)).subarray(-length);
    return end.equals(LAST_CHUNK);
  }
}
