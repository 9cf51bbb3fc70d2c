/** Services in `X-messaging/xmpp-All`, in which KDE writes messengers. */
const KDE_SERVICES: ReadonlyMap<string, string> = new Map([
  ['XMPP', 'X-JABBER'],
  ['AIM', 'X-AIM'],
  ['ICQ', 'X-ICQ'],
  ['MSN', 'X-MSN'],
  ['YAHOO', 'X-YAHOO'],
  ['SKYPE', 'X-SKYPE'],
  ['GADU', 'X-GADUGADU'],
  ['GROUPWISE', 'X-GROUPWISE'],
]);

/** The name under which other programs write the messenger of KDE; any other name stays. @param name in upper case */
export function nameOfSlashed(name: string): string {
  const service = /^X-MESSAGING\/([A-Z]+)-ALL$/.exec(name)?.[1];
  return (service && KDE_SERVICES.get(service)) || name;
}
