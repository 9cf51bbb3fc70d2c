import { Controller } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { Config } from '../../config/config.js';
import { Ctx, type RequestContext } from '../../platform/context/request-context.js';
import { ApiFile } from '../../platform/http/api-docs.js';
import { Endpoint } from '../../platform/http/endpoint.js';
import { BodyReply } from '../../platform/http/replies/body-reply.js';
import { attachmentNamed } from '../../platform/http/replies/file-reply.js';
import { TenantsApi } from '../tenants/index.js';
import { appleProfile } from './model/apple-profile.js';
import { paths } from './model/paths.js';

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
