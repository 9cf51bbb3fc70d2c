import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Agent, Dispatcher } from 'undici';
import { Config } from '../../config/config.js';

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

const NETWORKS: readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'][] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 96, 'ipv6'],
  // IPv4 in IPv6: mapped, translated (RFC 6052, RFC 8215), 6to4 and Teredo.
  ['::ffff:0:0', 96, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['64:ff9b:1::', 48, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['2001::', 32, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['fec0::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

// Two lists: one list compares an IPv4 address with the network of mapped addresses too.
const blocked = { ipv4: new BlockList(), ipv6: new BlockList() };
for (const [network, prefix, family] of NETWORKS) blocked[family].addSubnet(network, prefix, family);

/** Whether an IP address is outside the public internet: private, loopback, link-local, multicast or reserved. */
export function isPrivateAddress(address: string): boolean {
  const version = isIP(address);
  const family = version === 6 ? 'ipv6' : 'ipv4';
  return version === 0 || blocked[family].check(address, family);
}

/** Whether a host name of a URL is this machine. */
export const isLoopbackHost = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || (isIP(host) === 4 && host.startsWith('127.'));

export interface OutboundRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer | null;
  /** The limit of the whole exchange, from the connection to the last byte. */
  timeoutMs: number;
  /** Bytes of the response that are read. */
  maxBytes: number;
  /** A longer response: `reject` is an error `too_large`, `cut` ends the connection after `maxBytes`. */
  longer: 'reject' | 'cut';
  /** Ends the request early. */
  signal?: AbortSignal;
}

export interface OutboundResponse {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/**
 * One request and its response, by undici's handlers: its streams and signals take as much processor time again.
 * @throws OutboundHttpError `timeout`, `too_large`, `aborted`; the errors of undici otherwise
 */
export function exchange(agent: Agent, url: URL, request: OutboundRequest): Promise<OutboundResponse> {
  const { method = 'GET', headers = {}, body = null, timeoutMs, maxBytes, longer, signal } = request;
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let controller: Dispatcher.DispatchController | undefined;
    let start: Omit<OutboundResponse, 'body'> = { status: 0, headers: {} };
    let isSettled = false;

    const settle = () => {
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const finish = () => {
      settle();
      resolve({ ...start, body: Buffer.concat(chunks).subarray(0, maxBytes) });
    };
    const fail = (error: Error) => {
      if (isSettled) return;
      settle();
      reject(error);
      controller?.abort(error);
    };
    const onAbort = () => fail(new OutboundHttpError('aborted', 'the request was ended'));
    const timer = setTimeout(
      () =>
        fail(new OutboundHttpError('timeout', `${url.href} did not respond within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    if (signal?.aborted) return onAbort();
    signal?.addEventListener('abort', onAbort);

    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers,
        body,
      },
      {
        onRequestStart: (given) => {
          controller = given;
          // It ended while it waited for a connection.
          if (isSettled) controller.abort(new Error('ended'));
        },
        onResponseStart: (_, status, received) => {
          start = { status, headers: received };
        },
        onResponseData: (given, chunk) => {
          size += chunk.length;
          chunks.push(chunk);
          if (size <= maxBytes) return;
          if (longer === 'reject')
            return fail(
              new OutboundHttpError('too_large', `the response is larger than ${maxBytes / 1024} KiB`),
            );
          finish();
          given.abort(new Error('cut'));
        },
        onResponseEnd: finish,
        onResponseError: (_, error) => fail(error),
      },
    );
  });
}

const CONNECT_TIMEOUT_MS = 5_000;

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

  /**
   * @returns the parsed address
   * @throws OutboundHttpError `invalid_address` for an address that is not allowed, before any connection
   */
  assertAllowed(address: string): URL {
    const url = URL.parse(address);
    if (!url || url.username !== '' || url.password !== '' || url.hash !== '')
      throw new OutboundHttpError(
        'invalid_address',
        `${address} is not an address without user and fragment`,
      );
    if (this.allowsLoopback && isLoopbackHost(url.hostname) && /^https?:$/.test(url.protocol)) return url;
    if (url.protocol !== 'https:')
      throw new OutboundHttpError('invalid_address', `${url.origin} does not use https`);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isLoopbackHost(url.hostname) || (isIP(host) !== 0 && isPrivateAddress(host)))
      throw new OutboundHttpError('invalid_address', `${url.origin} is not a public address`);
    return url;
  }

  /** @throws OutboundHttpError */
  async request(address: string, request: OutboundRequest): Promise<OutboundResponse> {
    const url = this.assertAllowed(address);
    try {
      return await exchange(this.agent ?? (await this.open()), url, request);
    } catch (error) {
      if (error instanceof OutboundHttpError) throw error;
      const cause = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
      // One answer for unknown names and for names of private addresses: it would list the names of the private network.
      if (cause === PRIVATE || UNKNOWN_NAME.test(cause))
        throw new OutboundHttpError('unreachable', `${address} has no public address`);
      throw new OutboundHttpError('unreachable', `${address} does not respond (${cause})`);
    }
  }

  private async open(): Promise<Agent> {
    const undici = await import('undici');
    return (this.agent ??= new undici.Agent({
      connect: { lookup: this.lookup, timeout: CONNECT_TIMEOUT_MS },
    }));
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
