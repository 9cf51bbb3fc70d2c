import { xmlText } from '../../../lib/xml/index.js';
import type { PropertyValue } from './multistatus.js';
import { paths } from './paths.js';
import { calendarServer, dav, element, href, type XmlName } from './xml-names.js';

/** Tokens are URIs (RFC 6578, 6.1). */
const TOKEN_SCHEME = 'data:,';
export const tokenUri = (token: string): string => TOKEN_SCHEME + token;

/** The token of a URI; null for a URI that is no token. */
export const tokenOf = (uri: string): string | null =>
  uri.startsWith(TOKEN_SCHEME) ? uri.slice(TOKEN_SCHEME.length) : null;

/** Privileges of RFC 3744 that clients look for. */
export function privileges(isWritable: boolean, more: readonly XmlName[] = []): string {
  const names = [
    dav('read'),
    dav('read-current-user-privilege-set'),
    ...(isWritable
      ? ['write', 'write-content', 'write-properties', 'bind', 'unbind'].map((name) => dav(name))
      : []),
    ...more,
  ];
  return names.map((name) => element(dav('privilege'), element(name))).join('');
}

export const reports = (names: readonly XmlName[]): string =>
  names.map((name) => element(dav('supported-report'), element(dav('report'), element(name)))).join('');

/** The properties that all resources have. */
export const callerProperties = (userId: string): [XmlName, PropertyValue][] => [
  [dav('current-user-principal'), href(paths.principal(userId))],
  [dav('principal-collection-set'), href(paths.principals)],
];

/** The properties that all collections of members have. @param token of the present state, a function where it costs a query */
export const collectionProperties = (
  { name, ownerId, userId }: { name: string; ownerId: string | null; userId: string },
  token: () => string | Promise<string>,
): [XmlName, PropertyValue][] => {
  let known: string | Promise<string> | undefined;
  const tokenOnce = (): string | Promise<string> => (known ??= token());
  return [
    [dav('displayname'), xmlText(name)],
    ...(ownerId === null ? [] : ([[dav('owner'), href(paths.principal(ownerId))]] as [XmlName, string][])),
    ...callerProperties(userId),
    [dav('sync-token'), async () => xmlText(tokenUri(await tokenOnce()))],
    [calendarServer('getctag'), async () => xmlText(await tokenOnce())],
  ];
};
