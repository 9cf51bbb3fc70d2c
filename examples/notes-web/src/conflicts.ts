import type { Conflict, Resolve } from '@workspace-backend/client/sync';

/** The fields of a note that collided, with the versions of both sides. */
export type Versions = Partial<Record<'title' | 'content', { mine: string; theirs: string }>>;

/**
 * Conflicts that the user has not decided. The library asks in the middle of a transaction and needs its answer at once, so that the merge is
 * saved first, and both versions are kept beside it until the user has chosen. They are in `localStorage`: it is written at once, and all tabs see it.
 */
export class Conflicts {
  private readonly listeners = new Set<() => void>();

  /** @param prefix of the keys; another one for each user */
  constructor(private readonly prefix: string) {
    addEventListener('storage', ({ key }) => {
      if (key === null || key.startsWith(prefix)) this.report();
    });
  }

  /** The function of the library. Keeps its default: both versions of a paragraph, and the title of the user. */
  readonly resolve: Resolve = (conflict) => {
    if (conflict.kind === 'field') this.add(conflict);
    return conflict.merged;
  };

  get(id: string): Versions | undefined {
    const stored = localStorage.getItem(this.prefix + id);
    return stored === null ? undefined : (JSON.parse(stored) as Versions);
  }

  set(id: string, versions: Versions): void {
    localStorage.setItem(this.prefix + id, JSON.stringify(versions));
    this.report();
  }

  delete(id: string): void {
    localStorage.removeItem(this.prefix + id);
    this.report();
  }

  clear(): void {
    for (const key of Object.keys(localStorage))
      if (key.startsWith(this.prefix)) localStorage.removeItem(key);
  }

  onChange(listener: () => void): void {
    this.listeners.add(listener);
  }

  private add({ id, field, local, server }: Extract<Conflict, { kind: 'field' }>): void {
    if ((field !== 'title' && field !== 'content') || typeof local !== 'string') return;
    this.set(id, {
      ...this.get(id),
      [field]: { mine: local, theirs: typeof server === 'string' ? server : '' },
    });
  }

  private report(): void {
    for (const listener of this.listeners) listener();
  }
}
