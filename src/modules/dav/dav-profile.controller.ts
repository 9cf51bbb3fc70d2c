import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { v5 as uuidv5 } from 'uuid';
import { Config } from '../../config/config.js';
import { xmlText } from '../../lib/xml/index.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { ApiFile } from '../../platform/http/api-docs.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { BodyReply } from '../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../platform/http/replies/file-reply.js';
import { TenantsApi } from '../tenants/index.js';
import { paths } from './model/paths.js';

/** Who a profile is for, and the server that it names. */
export interface ProfileOwner {
  userId: string;
  email: string;
  /** The workspace, for the names of the accounts. */
  workspace: string;
  /** The address of the server. */
  url: URL;
  /** The path of the user's principal. */
  principal: string;
}

type Value = string | number | boolean | Value[] | { [key: string]: Value };

function plist(value: Value): string {
  if (typeof value === 'string') return `<string>${xmlText(value)}</string>`;
  if (typeof value === 'number') return `<integer>${value}</integer>`;
  if (typeof value === 'boolean') return value ? '<true/>' : '<false/>';
  if (Array.isArray(value)) return `<array>${value.map(plist).join('')}</array>`;
  const members = Object.entries(value).map(([key, each]) => `<key>${xmlText(key)}</key>${plist(each)}`);
  return `<dict>${members.join('')}</dict>`;
}

const HEAD =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">\n';

/**
 * A configuration profile for iOS and macOS with a CalDAV and a CardDAV account, without a password: the device asks for it. A later
 * profile of the same user replaces an earlier one.
 */
export function appleProfile({ userId, email, workspace, url, principal }: ProfileOwner): string {
  const id = (name: string): string => uuidv5(`${url.origin} ${name}`, userId).toUpperCase();
  const isTls = url.protocol === 'https:';
  const port = Number(url.port) || (isTls ? 443 : 80);
  const account = (kind: 'CalDAV' | 'CardDAV') => ({
    PayloadType: kind === 'CalDAV' ? 'com.apple.caldav.account' : 'com.apple.carddav.account',
    PayloadVersion: 1,
    PayloadIdentifier: `${reversed(url.hostname)}.${kind.toLowerCase()}.${userId}`,
    PayloadUUID: id(kind),
    PayloadDisplayName: `${workspace} (${kind})`,
    [`${kind}AccountDescription`]: workspace,
    [`${kind}HostName`]: url.hostname,
    [`${kind}Port`]: port,
    [`${kind}UseSSL`]: isTls,
    [`${kind}PrincipalURL`]: principal,
    [`${kind}Username`]: email,
  });
  return `${HEAD}<plist version="1.0">${plist({
    PayloadType: 'Configuration',
    PayloadVersion: 1,
    PayloadIdentifier: `${reversed(url.hostname)}.dav.${userId}`,
    PayloadUUID: id('profile'),
    PayloadDisplayName: workspace,
    PayloadDescription: 'Calendars and contacts of your workspace.',
    PayloadContent: [account('CalDAV'), account('CardDAV')],
  })}</plist>\n`;
}

const reversed = (host: string): string => host.split('.').toReversed().join('.');

const TYPE = 'application/x-apple-aspen-config';
const FILE = 'calendars-and-contacts.mobileconfig';

/** The set-up of programs. */
@ApiTags('settings')
@Controller('dav')
export class DavProfileController {
  constructor(
    private readonly tenants: TenantsApi,
    private readonly config: Config,
  ) {}

  @Endpoint('GET profile', {
    id: 'readDavProfile',
    summary: 'Download the accounts of your calendars and contacts for iOS and macOS',
    description:
      'A configuration profile with a CalDAV and a CardDAV account. The device asks for the password: create an application password with the scopes `caldav` and `carddav`. The server speaks WebDAV (RFC 4918), CalDAV (RFC 4791, 6638), CardDAV (RFC 6352) and their synchronisation (RFC 6578) below `/apis/v1/dav/`, with Basic authentication by application passwords, or bearer tokens.',
  })
  @ApiFile(TYPE, 'The configuration profile.')
  async read(@Ctx() ctx: RequestContext): Promise<BodyReply> {
    const [profile, workspace] = await Promise.all([
      this.tenants.profile(ctx.tenantId, ctx.userId),
      this.tenants.nameOf(ctx.tenantId),
    ]);
    const text = appleProfile({
      userId: ctx.userId,
      email: profile?.email ?? '',
      workspace: workspace ?? 'Workspace',
      url: new URL(this.config.publicUrl),
      principal: paths.principal(ctx.userId),
    });
    return new BodyReply(Buffer.from(text), {
      contentType: TYPE,
      headers: { 'Content-Disposition': attachmentNamed(FILE, FILE) },
    });
  }
}
