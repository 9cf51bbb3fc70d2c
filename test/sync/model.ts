/** A forbidden behaviour of the service. */
export class Violation extends Error {
  /** Ids that the trace is searched for. */
  readonly about: string[];

  constructor(message: string, ...about: string[]) {
    super(message);
    this.name = 'Violation';
    this.about = about;
  }
}

interface AccessState {
  /** Requests in flight that may give access. */
  grantsInFlight: number;
  /** When the last of these requests ended. */
  lastGrantEnded: number;
  /** The time since which the user certainly has no access; null: the user may have access. */
  noAccessSince: number | null;
}

/** Certain knowledge about access to notes, although requests overlap: unsure cases count as access. */
export class Access {
  private readonly states = new Map<string, AccessState>();

  private readonly notes = new Set<string>();

  private of(note: string, user: string): AccessState {
    const key = `${note} ${user}`;
    let state = this.states.get(key);
    if (!state)
      this.states.set(
        key,
        (state = { grantsInFlight: 0, lastGrantEnded: -Infinity, noAccessSince: -Infinity }),
      );
    return state;
  }

  /** A request is sent that may give these users access. @returns a function to call when it has ended */
  grant(note: string, users: string[]): (unsure: boolean) => void {
    this.notes.add(note);
    const states = users.map((user) => this.of(note, user));
    for (const state of states) {
      state.grantsInFlight += 1;
      state.noAccessSince = null;
    }
    return (unsure) => {
      for (const state of states) {
        state.grantsInFlight -= 1;
        state.lastGrantEnded = performance.now() + (unsure ? 5_000 : 0);
      }
    };
  }

  /** A request, sent at `began`, was acknowledged that removes the access of these users. */
  revoked(note: string, users: string[], began: number): void {
    for (const user of users) {
      const state = this.of(note, user);
      if (state.grantsInFlight === 0 && state.lastGrantEnded < began)
        state.noAccessSince ??= performance.now();
    }
  }

  /** Whether this user certainly had no access to the note from `at` until now. */
  certainlyHadNoAccess(note: string, user: string, at: number): boolean {
    const state = this.states.get(`${note} ${user}`);
    return !state || (state.noAccessSince !== null && state.noAccessSince <= at);
  }

  /** Whether any user has ever had access to this note. */
  isKnown(note: string): boolean {
    return this.notes.has(note);
  }

  /** Whether this user may ever have had access to the note. */
  mayHaveHadAccess(note: string, user: string): boolean {
    return this.states.has(`${note} ${user}`);
  }
}

interface Written {
  title: string;
  content: string;
  by: string;
}

/** A note from its creation to its purge, named by its id and the time of its creation. */
export interface Life {
  id: string;
  createdAt: string;
  owner: string;
  revisions: Map<number, Written>;
  /** Revisions not yet compared with the stored ones. */
  unchecked: Set<number>;
  mayBePurged: boolean;
}

/** The acknowledged writes of notes. */
export class Ledger {
  readonly lives = new Map<string, Life>();

  /** @param note of the response to a write */
  acknowledged(note: any, by: string): void {
    const life = this.life(note);
    const before = life.revisions.get(note.revision);
    if (before)
      throw new Violation(
        `revision ${note.revision} of ${note.id} was acknowledged twice: to ${before.by} and to ${by}`,
        note.id,
      );
    life.revisions.set(note.revision, { title: note.title, content: note.content, by });
    life.unchecked.add(note.revision);
  }

  mayBePurged(note: { id: string; created_at: string }): void {
    const life = this.lives.get(`${note.id} ${note.created_at}`);
    if (life) life.mayBePurged = true;
  }

  /** Called for a purge without a response, and for one by the job. */
  anyLifeMayBePurged(id: string): void {
    for (const life of this.lives.values()) if (life.id === id) life.mayBePurged = true;
  }

  private life(note: any): Life {
    const key = `${note.id} ${note.created_at}`;
    let life = this.lives.get(key);
    if (!life) {
      life = {
        id: note.id,
        createdAt: note.created_at,
        owner: note.owner.id,
        revisions: new Map(),
        unchecked: new Set(),
        mayBePurged: false,
      };
      this.lives.set(key, life);
    }
    return life;
  }
}

/** JSON with sorted keys: two values are the same when their texts are. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
