import { Injectable } from '@nestjs/common';
import { foldedWords } from '../../../lib/search-text/index.js';
import { type XmlElement, xmlText } from '../../../lib/xml/index.js';
import type { RequestContext } from '../../../platform/context/request-context.js';
import { DirectoryApi, type FoundMember } from '../../directory/index.js';
import { foldWords, TenantsApi } from '../../tenants/index.js';
import { DavError, notFound } from '../model/body.js';
import { callerProperties, privileges, reports } from '../model/collection.js';
import {
  childOf,
  childrenOf,
  type Properties,
  type PropertyValue,
  responseOf,
  statusResponse,
  wantedOf,
} from '../model/multistatus.js';
import { paths, type Space } from '../model/paths.js';
import {
  caldav,
  calendarServer,
  carddav,
  dav,
  DECLARATIONS,
  element,
  href,
  nameOf,
  XML_HEAD,
  type XmlName,
} from '../model/xml-names.js';

/** Addresses as `mailto:` URIs. */
const mailto = (email: string): string => href(`mailto:${email}`);

const REPORTS = reports([dav('principal-property-search'), dav('principal-search-property-set')]);

const COLLECTION = '<D:collection/>';

/** The services of time zones (RFC 7809). None is named: the zones are those of the IANA database. */
const TIME_ZONES: [string, PropertyValue] = [caldav('timezone-service-set'), ''];

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
      ...(space === 'calendars' ? [TIME_ZONES] : []),
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

/** Members of one response. */
const MAX_FOUND = 100;
/** Conditions of one search. */
const MAX_CONDITIONS = 10;

/** The properties that can be searched, with their names for people. */
const SEARCHED: ReadonlyMap<XmlName, { label: string; valueOf: (member: FoundMember) => string }> = new Map([
  [dav('displayname'), { label: 'Name', valueOf: ({ name }: FoundMember) => name }],
  [calendarServer('email-address-set'), { label: 'E-mail', valueOf: ({ email }: FoundMember) => email }],
  [caldav('calendar-user-address-set'), { label: 'Address', valueOf: ({ email }: FoundMember) => email }],
]);

interface Condition {
  names: XmlName[];
  match: string;
}

/** Searches of members by programs that complete the names of attendees (RFC 3744, 9.4 and 9.5). */
@Injectable()
export class PrincipalSearch {
  constructor(
    private readonly directory: DirectoryApi,
    private readonly principals: Principals,
  ) {}

  /**
   * The members whose properties have words that begin with those of the conditions, as in the directory. Of another property nothing
   * matches.
   * @throws DavError 400, 403 for too many conditions
   */
  async *responses(ctx: RequestContext, report: XmlElement, isMinimal: boolean): AsyncGenerator<string> {
    const wanted = wantedOf(report, isMinimal);
    const conditions = conditionsIn(report);
    const isAny = report.attributes['test'] === 'anyof';
    const found = new Map<string, FoundMember>();
    // Of conditions that all have to match, the members that match the first one are compared with the others.
    for (const { match } of isAny ? conditions : conditions.slice(0, 1))
      for (const member of await this.directory.members(ctx.tenantId, match, MAX_FOUND + 1))
        found.set(member.id, member);
    const matching = [...found.values()].filter((member) =>
      isAny
        ? conditions.some((each) => matches(member, each))
        : conditions.every((each) => matches(member, each)),
    );
    for (const { id, name, email } of matching.slice(0, MAX_FOUND)) {
      const properties = this.principals.of(ctx, id, { email, displayName: name });
      yield responseOf(paths.principal(id), properties, wanted);
    }
    if (matching.length > MAX_FOUND)
      yield statusResponse(paths.principals, 507, element(dav('number-of-matches-within-limits')));
  }
}

/** The body of the response to `principal-search-property-set`. */
export function searchProperties(): string {
  const all = [...SEARCHED].map(([name, { label }]) =>
    element(
      dav('principal-search-property'),
      `${element(dav('prop'), element(name))}<D:description xml:lang="en">${label}</D:description>`,
    ),
  );
  return `${XML_HEAD}<D:principal-search-property-set ${DECLARATIONS}>${all.join('')}</D:principal-search-property-set>\n`;
}

function conditionsIn(report: XmlElement): Condition[] {
  const found = childrenOf(report, dav('property-search')).map((search) => ({
    names: (childOf(search, dav('prop'))?.children ?? []).map(({ space, name }) => nameOf(space, name)),
    match: (childOf(search, dav('match'))?.text ?? '').trim().replace(/^mailto:/i, ''),
  }));
  if (found.length === 0) throw new DavError(400, null, 'The search needs a property-search.');
  if (found.length > MAX_CONDITIONS)
    throw new DavError(
      403,
      dav('number-of-matches-within-limits'),
      `A search has at most ${MAX_CONDITIONS} conditions.`,
    );
  return found;
}

/** Whether all named properties have words that begin with those of the condition. */
function matches(member: FoundMember, { names, match }: Condition): boolean {
  const words = foldedWords(match);
  return (
    words.length > 0 &&
    names.length > 0 &&
    names.every((name) => {
      const property = SEARCHED.get(name);
      const folded = property === undefined ? '' : foldWords(property.valueOf(member));
      return words.every((word) => folded.includes(` ${word}`));
    })
  );
}
