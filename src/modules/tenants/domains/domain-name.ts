import { Resolver } from 'node:dns/promises';
import { domainToASCII, domainToUnicode } from 'node:url';
import { Injectable } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { Config } from '../../../config/config.js';
import { TenantErrors } from '../tenants.errors.js';

/** Characters that a host cannot have. `domainToASCII` reads some of them as delimiters of a URL. */
const NOT_OF_A_HOST = /[\s/\\@:?#%[\]]/;

/** The spelling of DNS, in lower case: domains are stored and compared in it. Empty for text that is no domain. */
export function domainName(text: string): string {
  const name = text.trim().toLowerCase();
  return NOT_OF_A_HOST.test(name) ? '' : domainToASCII(name);
}

const spelled = (value: unknown): unknown => (typeof value === 'string' ? domainName(value) : value);

/** Converts a domain of an input, or each one of a list, to the spelling of DNS. */
export const AsDomainName = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value.map(spelled) : spelled(value)));

/** The spellings in which a domain may be stored: earlier versions stored internationalised domains as they were written. */
export function storedSpellings(text: string): string[] {
  const name = domainName(text);
  return [name, domainToUnicode(name), text.trim().toLowerCase()];
}

/** The domain of an e-mail address. */
export const domainOf = (email: string): string => domainName(email.slice(email.lastIndexOf('@') + 1));

/** Whether an address is in one of these domains, in any of their spellings. */
export function isInDomains(email: string, domains: readonly string[]): boolean {
  const domain = domainOf(email);
  return domains.some((other) => domainName(other) === domain);
}

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
