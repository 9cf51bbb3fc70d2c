import { Injectable } from '@nestjs/common';
import { OutboundHttp } from '../../platform/outbound/outbound-http.js';

const LIMITS = { timeoutMs: 5_000, maxBytes: 256 * 1024, longer: 'reject' } as const;
const NO_BODY = new Set([204, 205, 304]);

interface IssuerRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: unknown;
}

/** HTTP requests to issuers that administrators of workspaces name, in the form that the OpenID client needs. */
@Injectable()
export class IssuerHttp {
  constructor(private readonly outbound: OutboundHttp) {}

  /** @throws OutboundHttpError for an address that is not allowed, before any connection */
  assertAllowed(address: string): void {
    this.outbound.assertAllowed(address);
  }

  /** `fetch` for the OpenID client. @throws OutboundHttpError */
  readonly fetch = async (address: string, request: IssuerRequest): Promise<Response> => {
    const { method = 'GET', headers = {} } = request;
    const body = request.body instanceof URLSearchParams ? request.body.toString() : null;
    const response = await this.outbound.request(address, { method, headers, body, ...LIMITS });
    return new Response(NO_BODY.has(response.status) ? null : new Uint8Array(response.body), {
      status: response.status,
      headers: textHeaders(response.headers),
    });
  };
}

function textHeaders(headers: Record<string, string | string[] | undefined>): Headers {
  const made = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of value === undefined ? [] : [value].flat()) made.append(name, each);
  return made;
}
