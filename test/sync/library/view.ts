import type { CollectionName, Workspace } from '@workspace-backend/client/sync';

export const OWN = ['notes', 'note_folders', 'tasks', 'task_folders', 'calendars', 'addressbooks'] as const;
const CONTAINED: Partial<Record<CollectionName, 'events' | 'contacts'>> = {
  calendars: 'events',
  addressbooks: 'contacts',
};
const NOTHING: ReadonlyMap<string, any> = new Map();

/** What a device shows: live queries of all collections, with what is in the trash. */
export class View {
  private readonly feeds = new Map<string, ReadonlyMap<string, any>[]>();
  private readonly queries = new Map<string, (() => void)[]>();
  private readonly workspace: Workspace;
  private readonly onError: (error: unknown) => void;

  /** @param onError a live query has failed */
  constructor(workspace: Workspace, onError: (error: unknown) => void) {
    this.workspace = workspace;
    this.onError = onError;
    for (const name of OWN) this.follow(name, undefined);
  }

  /** @param scope id of the calendar, or of the address book */
  items(name: CollectionName, scope?: string): ReadonlyMap<string, any> {
    const [listed = NOTHING, trashed = NOTHING] = this.feeds.get(feedOf(name, scope)) ?? [];
    return trashed.size === 0 ? listed : new Map([...listed, ...trashed]);
  }

  private follow(name: CollectionName, scope: string | undefined): void {
    const feed = feedOf(name, scope);
    if (this.queries.has(feed)) return;
    const collection = collectionOf(this.workspace, name, scope);
    const results: ReadonlyMap<string, any>[] = [];
    this.feeds.set(feed, results);
    const query = (trash: boolean) =>
      collection.live(
        { trash },
        (items) => {
          results[trash ? 1 : 0] = byId(name, items);
          const contained = CONTAINED[name];
          if (contained) this.followContained(contained, items);
        },
        this.onError,
      );
    const hasTrash = name === 'notes' || name === 'tasks';
    this.queries.set(feed, hasTrash ? [query(false), query(true)] : [query(false)]);
  }

  private followContained(name: 'events' | 'contacts', containers: { id?: string }[]): void {
    const ids = new Set(containers.map(({ id }) => id));
    for (const [feed, ends] of this.queries) {
      const [of, scope] = feed.split(' ');
      if (of !== name || ids.has(scope)) continue;
      for (const end of ends) end();
      this.queries.delete(feed);
      this.feeds.delete(feed);
    }
    for (const id of ids) this.follow(name, id);
  }
}

/** Reads a collection once, with what is in the trash. */
export async function readAll(
  workspace: Workspace,
  name: CollectionName,
  scope?: string,
): Promise<Map<string, any>> {
  const collection = collectionOf(workspace, name, scope);
  const [listed, trashed] = [await collection.list(), await collection.list({ trash: true })];
  return byId(name, [...listed, ...trashed]);
}

/** The collection, without the types of its items. */
export const collectionOf = (workspace: Workspace, name: CollectionName, scope: string | undefined) =>
  workspace.collection(name as 'events', scope as string);

const byId = (name: CollectionName, items: any[]): Map<string, any> =>
  new Map(items.map((item) => [name === 'contacts' ? item.external_id : item.id, item]));

const feedOf = (name: CollectionName, scope: string | undefined): string =>
  scope === undefined ? name : `${name} ${scope}`;
