/** The version of an event or of a response (RFC 5546, 2.1.4 and 2.1.5). */
export interface Version {
  sequence: number;
  /** Seconds since the epoch; null: unknown. */
  dtstamp: number | null;
}

export type Freshness = 'newer' | 'same' | 'older';

/** Compares by SEQUENCE, then by DTSTAMP. An unknown DTSTAMP of the incoming version counts as newer. */
export function compareVersions(incoming: Version, known: Version): Freshness {
  if (incoming.sequence !== known.sequence) return incoming.sequence > known.sequence ? 'newer' : 'older';
  if (incoming.dtstamp === null || known.dtstamp === null) return 'newer';
  if (incoming.dtstamp === known.dtstamp) return 'same';
  return incoming.dtstamp > known.dtstamp ? 'newer' : 'older';
}
