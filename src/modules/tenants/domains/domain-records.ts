import { Resolver } from 'node:dns/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../../../config/config.js';
import { TenantErrors } from '../tenants.errors.js';

const TIMEOUT_MS = 3_000;
const TRIES = 2;
/** The name or the record does not exist. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA']);

/** Reads TXT records from DNS_SERVERS, or from the name servers of the machine. */
@Injectable()
export class DomainRecords {
  constructor(private readonly config: Config) {}

  /** The TXT records of a name; the strings of a record are joined. @throws ApiError 503 `dns_unavailable` */
  async txt(name: string): Promise<string[]> {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (this.config.dnsServers.length > 0) resolver.setServers(this.config.dnsServers);
    try {
      return (await resolver.resolveTxt(name)).map((strings) => strings.join(''));
    } catch (error) {
      if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return [];
      throw TenantErrors.dnsUnavailable.with();
    }
  }
}
