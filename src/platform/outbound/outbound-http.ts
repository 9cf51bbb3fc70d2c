import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Agent } from 'undici';
import { Config } from '../../config/config.js';
import { isLoopbackHost, isPrivateAddress } from './private-addresses.js';

const CONNECT_TIMEOUT_MS = 5_000;

/** Why a request to an address that a member named was not made or failed. */
export class OutboundHttpError extends Error {
  constructor(
    readonly problem: 'invalid_address' | 'unreachable' | 'timeout' | 'too_large' | 'aborted',
    message: string,
  ) {
    super(message);
    this.name = 'OutboundHttpError';
  }
}

interface OutboundRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | null;
  /** For the whole exchange, from the connection to the last byte. */
  timeoutMs: number;
  /** Bytes of the response that are read. */
  maxBytes: number;
  /** A longer response: `reject` is an error `too_large`, `cut` ends the connection after `maxBytes`. */
  longer: 'reject' | 'cut';
  /** Ends the request early. */
  signal?: AbortSignal;
}

interface OutboundResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * HTTP requests to addresses that members name: https to public addresses only, without redirects, with limits of time and size. The
 * address is checked when the connection is made, so that DNS cannot change in between. A service whose PUBLIC_URL is on a loopback
 * address, as in development, may also use http and loopback addresses.
 */
@Injectable()
export class OutboundHttp implements OnApplicationShutdown {
  private agent: Agent | undefined;
  private readonly allowsLoopback: boolean;

  constructor(config: Config) {
    this.allowsLoopback = isLoopbackHost(new URL(config.publicUrl).hostname);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent?.destroy();
  }

  /** @throws OutboundHttpError `invalid_address` for an address that is not allowed, before any connection */
  assertAllowed(address: string): void {
    const url = URL.parse(address);
    if (!url || url.username !== '' || url.password !== '' || url.hash !== '')
      throw new OutboundHttpError(
        'invalid_address',
        `${address} is not an address without user and fragment`,
      );
    if (this.allowsLoopback && isLoopbackHost(url.hostname) && /^https?:$/.test(url.protocol)) return;
    if (url.protocol !== 'https:')
      throw new OutboundHttpError('invalid_address', `${url.origin} does not use https`);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isLoopbackHost(url.hostname) || (isIP(host) !== 0 && isPrivateAddress(host)))
      throw new OutboundHttpError('invalid_address', `${url.origin} is not a public address`);
  }

  /** @throws OutboundHttpError */
  async request(address: string, request: OutboundRequest): Promise<OutboundResponse> {
    this.assertAllowed(address);
    const { method = 'GET', headers = {}, body = null, timeoutMs, signal } = request;
    const timeout = AbortSignal.timeout(timeoutMs);
    try {
      const undici = await import('undici');
      this.agent ??= new undici.Agent({ connect: { lookup: this.lookup, timeout: CONNECT_TIMEOUT_MS } });
      const response = await undici.request(address, {
        method: method as 'GET',
        headers,
        body,
        signal: signal ? AbortSignal.any([timeout, signal]) : timeout,
        dispatcher: this.agent,
      });
      return {
        status: response.statusCode,
        headers: response.headers,
        body: await read(response.body, request),
      };
    } catch (error) {
      if (error instanceof OutboundHttpError) throw error;
      if (signal?.aborted) throw new OutboundHttpError('aborted', 'the request was ended');
      if (timeout.aborted)
        throw new OutboundHttpError('timeout', `${address} did not respond within ${timeoutMs / 1000} s`);
      const cause = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      // One answer for unknown names and for names of private addresses: it would list the names of the private network.
      if (cause === PRIVATE || UNKNOWN_NAME.test(cause))
        throw new OutboundHttpError('unreachable', `${address} has no public address`);
      throw new OutboundHttpError('unreachable', `${address} does not respond (${cause})`);
    }
  }

  private readonly lookup: LookupFunction = (host, options, callback) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '');
      const isAllowed = (address: string) =>
        !isPrivateAddress(address) || (this.allowsLoopback && isLoopbackHost(host));
      const [first] = addresses;
      if (!first || !addresses.every(({ address }) => isAllowed(address)))
        return callback(Object.assign(new Error('not a public address'), { code: PRIVATE }), '');
      return options.all ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

const PRIVATE = 'EPRIVATE';
/** Codes of name servers that do not know a name, or have no address for it. */
const UNKNOWN_NAME = /^(?:ENOTFOUND|ENODATA|EAI_)/;

/** Leaving the loop destroys the body, and with it the connection. */
async function read(body: AsyncIterable<Buffer>, { maxBytes, longer }: OutboundRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    chunks.push(chunk);
    if (size <= maxBytes) continue;
    if (longer === 'cut') break;
    throw new OutboundHttpError('too_large', `the response is larger than ${maxBytes / 1024} KiB`);
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
