import type { ImportCounts } from './import.entity.js';
import type { ImportProblemResponse, OnImportedDuplicate } from './phone.dto.js';

export interface ImportRun {
  id: string;
  bookId: string;
  deviceId: string;
  onDuplicate: OnImportedDuplicate;
  /** By id: the contacts that the written batches have created or found. */
  touched: Map<string, TouchedContact>;
  /** Counts of the written batches. */
  counts: ImportCounts;
  problems: ImportProblemResponse[];
}

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

/** Hashes of one contact. Further cards of it are reported: each of them costs as much as the whole contact. */
export const MAX_HASHES = 100;

/** The contacts that an import has created or found. Each batch collects its own, because its transaction may be repeated. */
export class Touched {
  /** Those of this batch. */
  readonly added = new Map<string, TouchedContact>();

  /** @param before those of the batches before */
  constructor(private readonly before: ReadonlyMap<string, TouchedContact>) {}

  has(id: string): boolean {
    return this.added.has(id) || this.before.has(id);
  }

  /** Whether an earlier batch had the contact. */
  wasTouched(id: string): boolean {
    return this.before.has(id);
  }

  of(id: string): TouchedContact {
    return this.added.get(id) ?? this.before.get(id) ?? UNTOUCHED;
  }

  set(id: string, values: Partial<Omit<TouchedContact, 'hashes'>>): void {
    this.added.set(id, { ...this.of(id), ...values });
  }

  /** Whether the contact can get another card. */
  hasRoom(id: string, hash: string): boolean {
    const { hashes } = this.of(id);
    return hashes.length < MAX_HASHES || hashes.includes(hash);
  }

  addHash(id: string, hash: string): void {
    const known = this.of(id);
    this.added.set(id, known.hashes.includes(hash) ? known : { ...known, hashes: [...known.hashes, hash] });
  }
}
