import { canonical, Violation } from './model.ts';

/** A contact as the database has it. */
export interface StoredContact {
  id: string;
  revision: number;
  full_name: string | null;
  job_title: string | null;
}

interface ContactLife {
  /** The address books and external_ids that the contact has had. */
  places: Set<string>;
  /** Acknowledged fields by revision. */
  written: Map<number, { fields: string; by: string }>;
}

const placeOf = (bookId: string, externalId: string): string => `${bookId} ${externalId}`;
const fieldsOf = ({ full_name, job_title }: StoredContact): string => canonical({ full_name, job_title });

/** Acknowledged writes of contacts: none is lost, and no revision is acknowledged with two contents. */
export class ContactLedger {
  private readonly lives = new Map<string, ContactLife>();
  private readonly deletable = new Set<string>();
  private readonly deletableBooks = new Set<string>();
  private readonly deletableIds = new Set<string>();

  /** @param contact of the response to a write; a write without a difference repeats the revision */
  acknowledged(contact: any, by: string): void {
    const life = this.lives.get(contact.id) ?? { places: new Set(), written: new Map() };
    this.lives.set(contact.id, life);
    life.places.add(placeOf(contact.addressbook_id, contact.external_id));
    const fields = fieldsOf(contact);
    const before = life.written.get(contact.revision);
    if (before && before.fields !== fields)
      throw new Violation(
        `revision ${contact.revision} was acknowledged to ${before.by} and ${by} with two contents`,
        contact.id,
      );
    life.written.set(contact.revision, { fields, by });
  }

  /** Also called for a move: the contact may be deleted under a new external_id that no response contains. */
  mayBeDeleted(bookId: string, externalId: string): void {
    this.deletable.add(placeOf(bookId, externalId));
  }

  /** As `mayBeDeleted`, of a program that knows the id only. */
  mayBeDeletedById(id: string): void {
    this.deletableIds.add(id);
  }

  /** All contacts of the book may be deleted with it. */
  mayLoseBook(bookId: string): void {
    this.deletableBooks.add(bookId);
  }

  /** @param stored all contacts of the workspace */
  check(stored: readonly StoredContact[]): void {
    const now = new Map(stored.map((contact) => [contact.id, contact]));
    for (const [id, { places, written }] of this.lives) {
      const contact = now.get(id);
      if (!contact) {
        const isDeletable =
          this.deletableIds.has(id) ||
          [...places].some(
            (place) => this.deletable.has(place) || this.deletableBooks.has(place.split(' ')[0] as string),
          );
        if (!isDeletable) throw new Violation(`the contact ${id} is lost`, id);
        this.lives.delete(id);
        continue;
      }
      const last = Math.max(...written.keys());
      if (contact.revision < last) throw new Violation(`revision ${last} of ${id} is lost`, id);
      const fields = written.get(contact.revision)?.fields ?? fieldsOf(contact);
      if (fields !== fieldsOf(contact))
        throw new Violation(`${id} was acknowledged as ${fields} and is ${fieldsOf(contact)}`, id);
    }
  }
}
