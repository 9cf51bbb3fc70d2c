/** What an import has done with a contact. */
export interface TouchedContact {
  /** The hashes of its cards, hexadecimal. */
  hashes: readonly string[];
  /** The import created it. */
  isNew: boolean;
  /** It is the contact of one card: another card of a person of the same name has another one. */
  isTaken: boolean;
  /** The import has an item for it. */
  hasItem: boolean;
}

const UNTOUCHED: TouchedContact = { hashes: [], isNew: false, isTaken: false, hasItem: false };

/** Hashes that an item stores. Cards beyond them are joined again in each import, which adds nothing to their contact. */
const MAX_HASHES = 250;

/** The contacts that an import has created or found. Each batch collects its own, because its transaction may be repeated. */
export class Touched {
  /** Those of this batch. */
  readonly added = new Map<string, TouchedContact>();

  /** @param before those of the batches before */
  constructor(private readonly before: ReadonlyMap<string, TouchedContact>) {}

  has(id: string): boolean {
    return this.added.has(id) || this.before.has(id);
  }

  of(id: string): TouchedContact {
    return this.added.get(id) ?? this.before.get(id) ?? UNTOUCHED;
  }

  set(id: string, values: Partial<Omit<TouchedContact, 'hashes'>>): void {
    this.added.set(id, { ...this.of(id), ...values });
  }

  addHash(id: string, hash: string): void {
    const known = this.of(id);
    const isKnown = known.hashes.includes(hash) || known.hashes.length >= MAX_HASHES;
    this.added.set(id, isKnown ? known : { ...known, hashes: [...known.hashes, hash] });
  }
}
