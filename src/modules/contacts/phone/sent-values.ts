import { hash } from 'node:crypto';
import { valueKeys } from '../../../lib/contact-card/index.js';
import type { ImportedCard } from './import-cards.js';

/** Bytes of the hash of a value: enough for the values of one contact. */
const BYTES = 6;
const TEXT = new RegExp(`.{${BYTES * 2}}`, 'g');
/** Values of an item. A contact with more, such as a large group, is joined as a whole. */
const MAX_VALUES = 1_000;
export const MAX_VALUE_BYTES = MAX_VALUES * BYTES;

const shortHash = (key: string): string => hash('sha256', key).slice(0, BYTES * 2);
const photoKey = (photo: string): string => `photo ${photo}`;

/** What is known of the cards that a device sent for a contact in its last import. */
export interface SentCards {
  /** Their hashes, hexadecimal. */
  hashes: readonly string[];
  /** Short hashes of their values; null if they are not known. */
  values: Buffer | null;
  /** The revision of the contact after that import. */
  revision: number;
}

/** The values of the cards of contacts in one batch of an import. */
export class ValuesOfCards {
  /** By contact. */
  private readonly values = new Map<string, Set<string>>();

  add(id: string, { card, photo }: ImportedCard): void {
    const known = this.values.get(id) ?? new Set();
    this.values.set(id, known);
    for (const key of [...valueKeys(card), ...(photo ? [photoKey(photo.hash)] : [])]) {
      if (known.size > MAX_VALUES) return;
      known.add(shortHash(key));
    }
  }

  /**
   * Adds the values of the cards before one that broke off: the next whole card is compared with these, too.
   * @param replaced keys of the values that the card has replaced
   */
  addEarlier(id: string, earlier: SentValues, replaced: readonly string[]): void {
    const known = this.values.get(id) ?? new Set();
    this.values.set(id, known);
    const gone = new Set(replaced.map(shortHash));
    for (const each of earlier.readAll()) if (!gone.has(each)) known.add(each);
  }

  /** The hashes, hexadecimal; null for too many. */
  of(id: string): string | null {
    const known = this.values.get(id) ?? new Set();
    return known.size > MAX_VALUES ? null : [...known].join('');
  }
}

/** The values that a device sent for a contact in its last import. */
export class SentValues {
  private hashes: ReadonlySet<string> | undefined;

  constructor(private readonly bytes: Buffer) {}

  /** The short hashes. */
  readAll(): ReadonlySet<string> {
    // Most cards did not change, and need no set.
    return (this.hashes ??= new Set(this.bytes.toString('hex').match(TEXT) ?? []));
  }

  has(key: string): boolean {
    return this.readAll().has(shortHash(key));
  }

  /** @param photo its hash */
  hasPhoto(photo: string): boolean {
    return this.has(photoKey(photo));
  }
}
