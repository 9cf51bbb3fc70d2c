import { lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Agent } from 'undici';
import { Config } from '../../config/config.js';
import { exchange, type OutboundRequest, type OutboundResponse } from './exchange.js';
import { OutboundHttpError } from './outbound-http-error.js';
import { isLoopbackHost, isPrivateAddress } from './private-addresses.js';

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
