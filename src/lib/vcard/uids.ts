const URN = /^urn:uuid:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `urn:uuid:` is the spelling of a UUID in vCard 4.0; cards have it without. */
export function uidOf(text: string): string {
  return URN.exec(text)?.[1] ?? text;
}

export function uidToUri(uid: string): string {
  return UUID.test(uid) ? `urn:uuid:${uid}` : uid;
}
