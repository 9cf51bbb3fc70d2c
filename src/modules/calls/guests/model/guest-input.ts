import { domainToASCII } from 'node:url';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { IsEmail, IsString, Length, Matches, MaxLength } from 'class-validator';
import { parse } from 'tldts';
import { mailAddress } from '../../../../lib/text/index.js';

const MAX_NAME = 80;
const HOST_NAME = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/;
/** Control characters, marks without width and characters that change the direction of text. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0\u2800]+/gu;

/** A name as guests see each other: one line in NFC, without invisible characters. */
const guestName = (text: string): string =>
  text.normalize('NFC').replace(/\s+/gu, ' ').replace(INVISIBLE, '').replace(/ +/g, ' ').trim();

/** An address in the form in which addresses are compared: lower case, the domain in ASCII. */
export function normalEmail(text: string): string {
  const address = mailAddress(text);
  const at = address.lastIndexOf('@');
  const domain = normalDomain(address.slice(at + 1));
  return `${address.slice(0, at).trim().toLowerCase()}@${domain}`;
}

/** Empty for text that is no domain. */
export const normalDomain = (text: string): string =>
  domainToASCII(text.trim().toLowerCase().replace(/\.$/, ''));

/**
 * Whether a domain has one owner: a name below a public suffix (https://publicsuffix.org), such as `partner.co.uk`. Suffixes of
 * hosting services, such as `github.io`, are public too.
 * @param domain normalised
 */
export const isRegistrable = (domain: string): boolean =>
  HOST_NAME.test(domain) &&
  parse(domain, { allowPrivateDomains: true, validateHostname: false }).domain !== null;

const Normal = (change: (text: string) => string) =>
  Transform(({ value }: { value: unknown }) => (typeof value === 'string' ? change(value) : value));

export const GuestName = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ minLength: 1, maxLength: MAX_NAME, example: 'Gina Guest' }),
    Normal(guestName),
    Matches(/[\p{L}\p{N}]/u, { message: 'name must contain a letter or a digit' }),
    Length(1, MAX_NAME),
    IsString(),
  );

export const Email = (): PropertyDecorator =>
  applyDecorators(Normal(normalEmail), IsEmail(), MaxLength(254), IsString());
