import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Agent } from 'undici';
import { Config } from '../../../config/config.js';
import { isLoopbackHost, isPrivateAddress } from './private-addresses.js';

/** For the whole exchange, from the connection to the last byte. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;

/** Why a request to an issuer was not made or failed. */
export class IssuerHttpError extends Error {
  constructor(
    readonly problem: 'invalid_address' | 'unreachable' | 'too_large',
    message: string,
  ) {
    super(message);
    this.name = 'IssuerHttpError';
  }
}

interface IssuerRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/**
 * HTTP requests to issuers that administrators of workspaces name: https to public addresses only, without redirects, with
 * limits of time and size. The address is checked when the connection is made, so that DNS cannot change in between. A
 * service whose PUBLIC_URL is on a loopback address, as in development, may also use issuers on loopback addresses.
 */
@Injectable()
export class IssuerHttp implements OnApplicationShutdown {
  private agent: Agent | undefined;
  private readonly allowsLoopback: boolean;

  constructor(config: Config) {
    this.allowsLoopback = isLoopbackHost(new URL(config.publicUrl).hostname);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.agent?.destroy();
  }

  /** @throws IssuerHttpError for an address that is not allowed, before any connection */
  assertAllowed(address: string): void {
    const url = URL.parse(address);
    if (!url || url.username !== '' || url.password !== '' || url.hash !== '')
      throw new IssuerHttpError('invalid_address', `${address} is not the address of an issuer`);
    if (this.allowsLoopback && isLoopbackHost(url.hostname) && /^https?:$/.test(url.protocol)) return;
    if (url.protocol !== 'https:')
      throw new IssuerHttpError('invalid_address', `${url.origin} does not use https`);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isLoopbackHost(url.hostname) || (isIP(host) !== 0 && isPrivateAddress(host)))
      throw new IssuerHttpError('invalid_address', `${url.origin} is not a public address`);
  }

  /** `fetch` for the OpenID client. @throws IssuerHttpError */
  readonly fetch = async (address: string, request: IssuerRequest): Promise<Response> => {
    this.assertAllowed(address);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const undici = await import('undici');
      this.agent ??= new undici.Agent({ connect: { lookup: this.lookup, timeout: TIMEOUT_MS } });
      const { method = 'GET', headers = {}, body } = request;
      const text = body instanceof URLSearchParams ? body.toString() : null;
      const response = await undici.request(address, {
        method: method as 'GET',
        headers,
        body: text,
        signal,
        dispatcher: this.agent,
      });
      const bytes = await read(response.body);
      return new Response(NO_BODY.has(response.statusCode) ? null : bytes, {
        status: response.statusCode,
        headers: textHeaders(response.headers),
      });
    } catch (error) {
      if (error instanceof IssuerHttpError) throw error;
      const cause = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      // One answer for unknown names and for names of private addresses: it would list the names of the private network.
      if (cause === PRIVATE || UNKNOWN_NAME.test(cause))
        throw new IssuerHttpError('unreachable', `${address} has no public address`);
      throw new IssuerHttpError('unreachable', `${address} does not respond (${cause})`);
    }
  };

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
const NO_BODY = new Set([204, 205, 304]);

async function read(body: AsyncIterable<Buffer>): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES)
      throw new IssuerHttpError('too_large', `the response is larger than ${MAX_BYTES / 1024} KiB`);
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

function textHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of value === undefined ? [] : [value].flat()) made.append(name, each);
  return made;
}
