import type { components } from '../generated/api.js';
import type { TextKind } from './merge/text.js';

type Schemas = components['schemas'];
/** What the library adds to bodies itself. */
type Own = 'id' | 'external_id' | 'base_revision' | 'device_id';
/** Choices that belong to a call, not to an object: use the calls of the client for them. */
type OfCalls =
  | 'scope'
  | 'recurrence_id'
  | 'send_updates'
  | 'calendar_id'
  | 'on_duplicate'
  | 'default_country';

interface Types<Item, Create, Update> {
  item: Item;
  create: Omit<Create, Own | OfCalls>;
  update: Omit<Update, Own | OfCalls>;
}

/** The collections with their objects and the fields that can be written. */
export interface Collections {
  notes: Types<Schemas['NoteResponse'], Schemas['CreateNote'], Schemas['UpdateNote']>;
  note_folders: Types<
    Schemas['NoteFolderResponse'],
    Schemas['CreateNoteFolder'],
    Schemas['UpdateNoteFolder']
  >;
  tasks: Types<Schemas['TaskFeedItemResponse'], Schemas['CreateTask'], Schemas['UpdateTask']>;
  task_folders: Types<
    Schemas['TaskFolderResponse'],
    Schemas['CreateTaskFolder'],
    Schemas['UpdateTaskFolder']
  >;
  calendars: Types<Schemas['CalendarResponse'], Schemas['CreateCalendar'], Schemas['UpdateCalendar']>;
  /** The events of a calendar. A series has its changed instances as `overrides`. */
  events: Types<
    Schemas['CalendarEventResponse'] & { overrides: Schemas['CalendarEventResponse'][] },
    Schemas['CreateEvent'],
    Schemas['UpdateEvent']
  >;
  /** Address books can be created with a connection only. */
  addressbooks: Types<Schemas['AddressbookResponse'], never, Schemas['UpdateAddressbook']>;
  /** The contacts of an address book, by `external_id`. */
  contacts: Types<Schemas['ContactResponse'], Schemas['CreateContact'], Schemas['UpdateContact']>;
}

/** The name of a collection that is kept on the device. */
export type CollectionName = keyof Collections;
/** Collections with a feed for each containing object, which is named with the collection. */
export type ScopedName = 'events' | 'contacts';

/** An object as a device shows it. One that was created on the device has the fields that were saved, until the service adds the others. */
export type LocalItem<Name extends CollectionName> = Partial<Collections[Name]['item']> &
  (Name extends 'contacts' ? { external_id: string } : { id: string });

/** A collection, as far as the library treats it in its own way. */
export interface CollectionSpec {
  /** Path of the objects. @param scope id of the containing object */
  path: (scope: string) => string;
  /** Name of an object in responses. */
  itemKey: string;
  idField: 'id' | 'external_id';
  update: 'PATCH' | 'PUT';
  hasTrash: boolean;
  hasDevice: boolean;
  /** The collection whose objects contain those of this one. */
  container?: 'calendars' | 'addressbooks';
  texts: Readonly<Record<string, TextKind>>;
}

const ORDINARY = {
  idField: 'id',
  update: 'PATCH',
  hasTrash: false,
  hasDevice: true,
  texts: {},
} as const satisfies Partial<CollectionSpec>;

/** Written as a whole, without the id of the device. */
const REPLACED = { ...ORDINARY, update: 'PUT', hasDevice: false } as const;

export const COLLECTIONS: Readonly<Record<CollectionName, CollectionSpec>> = {
  note_folders: { ...ORDINARY, path: () => '/note_folders', itemKey: 'note_folder' },
  notes: { ...ORDINARY, path: () => '/notes', itemKey: 'note', hasTrash: true, texts: { content: 'html' } },
  task_folders: { ...ORDINARY, path: () => '/task_folders', itemKey: 'task_folder' },
  tasks: {
    ...ORDINARY,
    path: () => '/tasks',
    itemKey: 'task',
    hasTrash: true,
    texts: { description: 'html' },
  },
  calendars: {
    ...REPLACED,
    path: () => '/calendar',
    itemKey: 'calendar',
    texts: { description: 'plain' },
  },
  events: {
    ...REPLACED,
    path: (calendarId) => `/calendar/${calendarId}/events`,
    itemKey: 'event',
    container: 'calendars',
    texts: { description: 'plain' },
  },
  addressbooks: {
    ...REPLACED,
    path: () => '/contact/addressbooks',
    itemKey: 'addressbook',
    texts: { description: 'plain' },
  },
  contacts: {
    ...REPLACED,
    path: (bookId) => `/contact/addressbooks/${bookId}/contacts`,
    itemKey: 'contact',
    idField: 'external_id',
    container: 'addressbooks',
    texts: { notes: 'plain' },
  },
};

export const ALL_COLLECTIONS = Object.keys(COLLECTIONS) as CollectionName[];

/** @returns the name of the feed, as rows have it */
export const feedOf = (name: CollectionName, scope?: string): string =>
  scope === undefined ? name : `${name}/${scope}`;

/** The collection of a feed, and the id of the containing object. */
export function partsOf(feed: string): { name: CollectionName; scope: string | undefined } {
  const at = feed.indexOf('/');
  if (at < 0) return { name: feed as CollectionName, scope: undefined };
  return { name: feed.slice(0, at) as CollectionName, scope: feed.slice(at + 1) };
}
