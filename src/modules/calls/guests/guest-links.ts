import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';

/** Addresses of invites. */
@Injectable()
export class GuestLinks {
  constructor(private readonly config: Config) {}

  /** The page of the web client for guests, with the token in the fragment. If none is configured: the status route. */
  of(token: string): string {
    const { GUEST_PAGE_URL: page, publicUrl } = this.config;
    return page === undefined ? `${publicUrl}/apis/v1/call/external/${token}/status` : `${page}#${token}`;
  }
}
