import { isIP } from 'node:net';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../../config/config.js';

/** The relying party of passkeys (WebAuthn, section 4): the host of PUBLIC_URL. */
@Injectable()
export class PasskeySite {
  /** RP ID. Passkeys work for this host only. */
  readonly id: string;
  /** Origins of pages that may use passkeys: the service, and a web client on this host or a subdomain of it. */
  readonly origins: string[];
  /** False with an external issuer, and where browsers have no WebAuthn: without https, and for an IP address as host. */
  readonly isAvailable: boolean;

  constructor(config: Config) {
    const { hostname, protocol, origin } = new URL(config.publicUrl);
    const client = new URL(config.webClientUrl);
    const isClientInside = client.hostname === hostname || client.hostname.endsWith(`.${hostname}`);
    this.id = hostname;
    this.origins = [...new Set(isClientInside ? [origin, client.origin] : [origin])];
    const isSecure = protocol === 'https:' || hostname === 'localhost' || hostname.endsWith('.localhost');
    const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
    this.isAvailable = config.signInIssuer !== null && isSecure && !isAddress;
  }
}
