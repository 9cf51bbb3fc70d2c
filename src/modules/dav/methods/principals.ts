import { Injectable } from '@nestjs/common';
import { xmlText } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { TenantsApi } from '../../tenants/index.js';
import { callerProperties, privileges, reports } from '../model/common-properties.js';
import { notFound } from '../model/dav-error.js';
import type { Properties, PropertyValue } from '../model/multistatus.js';
import { paths, type Space } from '../model/paths.js';
import { caldav, calendarServer, carddav, dav, href } from '../model/xml-names.js';

/** Addresses as `mailto:` URIs. */
const mailto = (email: string): string => href(`mailto:${email}`);

const REPORTS = reports([dav('principal-property-search'), dav('principal-search-property-set')]);

const COLLECTION = '<D:collection/>';

/** The resources that contain no events and contacts: root, principals, homes, and the collections of scheduling. */
@Injectable()
export class Principals {
  constructor(private readonly tenants: TenantsApi) {}

  root({ userId }: RequestContext): Properties {
    return new Map<string, PropertyValue>([
      [dav('resourcetype'), COLLECTION],
      [dav('displayname'), 'Workspace'],
      ...callerProperties(userId),
      [dav('current-user-privilege-set'), privileges(false)],
      [dav('supported-report-set'), ''],
    ]);
  }

  /** A member of the workspace; only the caller's own principal names homes. @throws DavError 404 */
  async principal(ctx: RequestContext, userId: string): Promise<Properties> {
    const profile = await this.tenants.profile(ctx.tenantId, userId);
    if (!profile) throw notFound();
    return principalProperties(ctx, userId, profile);
  }

  /** A member whose address and name are known. */
  of(ctx: RequestContext, userId: string, profile: { email: string; displayName: string }): Properties {
    return principalProperties(ctx, userId, profile);
  }

  /** The collection of all principals. */
  all(ctx: RequestContext): Properties {
    return new Map<string, PropertyValue>([...this.root(ctx), [dav('supported-report-set'), REPORTS]]);
  }

  home(space: Space, { userId }: RequestContext): Properties {
    return new Map<string, PropertyValue>([
      [dav('resourcetype'), COLLECTION],
      [dav('displayname'), space === 'calendars' ? 'Calendars' : 'Address books'],
      ...callerProperties(userId),
      [dav('owner'), href(paths.principal(userId))],
      [dav('current-user-privilege-set'), privileges(true)],
      [dav('supported-report-set'), ''],
    ]);
  }

  /** @param defaultPath of the calendar that receives invitations */
  inbox({ userId }: RequestContext, defaultPath: string | null): Properties {
    return new Map<string, PropertyValue>([
      [dav('resourcetype'), '<D:collection/><C:schedule-inbox/>'],
      [dav('displayname'), 'Inbox'],
      ...callerProperties(userId),
      [dav('owner'), href(paths.principal(userId))],
      [dav('current-user-privilege-set'), privileges(false, [caldav('schedule-deliver')])],
      ...(defaultPath === null
        ? []
        : ([[caldav('schedule-default-calendar-URL'), href(defaultPath)]] as [string, string][])),
    ]);
  }

  outbox({ userId }: RequestContext): Properties {
    return new Map<string, PropertyValue>([
      [dav('resourcetype'), '<D:collection/><C:schedule-outbox/>'],
      [dav('displayname'), 'Outbox'],
      ...callerProperties(userId),
      [dav('owner'), href(paths.principal(userId))],
      [
        dav('current-user-privilege-set'),
        privileges(false, [caldav('schedule-send'), caldav('schedule-send-freebusy')]),
      ],
    ]);
  }
}

function principalProperties(
  ctx: RequestContext,
  userId: string,
  { email, displayName }: { email: string; displayName: string },
): Properties {
  const path = paths.principal(userId);
  const calendars = paths.home('calendars', userId);
  const own: [string, PropertyValue][] = [
    [caldav('calendar-home-set'), href(calendars)],
    [carddav('addressbook-home-set'), href(paths.home('addressbooks', userId))],
    [caldav('schedule-inbox-URL'), href(`${calendars}inbox/`)],
    [caldav('schedule-outbox-URL'), href(`${calendars}outbox/`)],
    // The address book of the workspace has the id of the workspace.
    [carddav('directory-gateway'), href(paths.collection('addressbooks', userId, ctx.tenantId))],
  ];
  return new Map<string, PropertyValue>([
    [dav('resourcetype'), '<D:collection/><D:principal/>'],
    [dav('displayname'), xmlText(displayName)],
    [dav('principal-URL'), href(path)],
    ...callerProperties(ctx.userId),
    [dav('current-user-privilege-set'), privileges(false)],
    [dav('supported-report-set'), ''],
    [dav('group-membership'), ''],
    [caldav('calendar-user-address-set'), mailto(email) + href(path)],
    [caldav('calendar-user-type'), 'INDIVIDUAL'],
    [calendarServer('email-address-set'), `<S:email-address>${xmlText(email)}</S:email-address>`],
    ...(userId === ctx.userId ? own : []),
  ]);
}
