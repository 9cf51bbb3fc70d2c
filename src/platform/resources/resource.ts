import type { Type } from '@nestjs/common';
import { ApiExtraModels, ApiProperty, getSchemaPath } from '@nestjs/swagger';
import { type ExpectedRevision, revisionTag } from '../concurrency/expected-revision.js';
import { ErrorResponse } from '../http/error.response.js';
import { type ApiError, defineError, type ErrorKind } from '../http/errors.js';
import type { Checked } from '../http/input.pipe.js';
import { JsonReply } from '../http/json-reply.js';
import { PageEnvelope } from '../paging/page.dto.js';
import type { FeedSource } from '../sync/feed-source.js';
import { FeedController } from '../sync/feed.controller.js';
import { FeedMeta, FeedRemoval, IndexMeta } from '../sync/feed.dto.js';
import { exampleOf } from './example.js';

interface ResourceOptions<Item> {
  /** Section of the documentation. */
  tag: string;
  /** One item in words, e.g. `note folder`: names the members of responses, the operations and the ETag. */
  name: string;
  /** Default: the name with an `s`. */
  plural?: string;
  /** Further names of one item and of the list in responses: `['folder', 'folders']`. They come first. */
  alias?: readonly [one: string, many: string];
  /** Below `/apis/v1/`. */
  path: string;
  /** Response class of one item; `<Name>Response`. */
  item: Type<Item>;
  /** Message of 404 `not_found`. */
  notFound: string;
  /** Whether writes of an item must (`required`) or may (`optional`) carry the revision that was read; default: neither. */
  revision?: 'required' | 'optional';
  /** False means that paths do not contain the id of an item but another name of it. */
  idInPath?: boolean;
}

/** One item of a response: an object, or the JSON text that PostgreSQL has made. */
type Shown<Item> = Item | string;

interface ResponseOptions {
  status?: number;
  location?: string;
  /** JSON for repeated requests with the same Idempotency-Key; default: that of the response. */
  remembered?: string;
  /** Id and revision for the ETag; required if the item is JSON text. Null means no ETag. */
  tag?: { id: string; revision: number } | null;
}

/** Options of a response with further members, e.g. `deleted: true`. */
type WithExtra<More extends object> = ResponseOptions & { extra: More };

type Snake<Words extends string> = Words extends `${infer Head} ${infer Tail}`
  ? `${Head}_${Snake<Tail>}`
  : Words;

/** The response classes of a resource, by the names of one item and of the list. */
interface Envelopes<Item, One extends string, Many extends string> {
  item: Record<One, Item>;
  list: Record<Many, Item[]> & PageEnvelope;
  deleted: Record<One, Item> & { deleted: true };
  changes: Record<Many, (Item | FeedRemoval)[]> & FeedMeta;
  index: Record<Many, Item[]> & IndexMeta;
}

/** A response class of a resource: `EnvelopeOf<typeof NOTE_FOLDERS, 'list'>`. */
export type EnvelopeOf<R extends AnyResource, K extends keyof R['envelopes']> =
  R['envelopes'][K] extends Type<infer T> ? T : never;

/** A response of a resource. */
export type ReplyOf<R extends AnyResource, K extends keyof R['envelopes']> = JsonReply<EnvelopeOf<R, K>>;

/** A resource of any class. */
export type AnyResource = Pick<
  Resource<object, string, string>,
  'options' | 'kind' | 'notFound' | 'conflict' | 'operationId'
> & { readonly envelopes: Record<keyof Envelopes<object, string, string>, Type> };

/** A kind of object of the API: its names, its response shapes, its errors. Declare one constant for each resource. */
export class Resource<Item extends object, One extends string, Many extends string> {
  /** e.g. `note_folder`. */
  readonly kind: string;
  /** Names of one item in responses. */
  readonly one: readonly One[];
  /** Names of the list in responses. */
  readonly many: readonly Many[];
  /** Name of its change feed. */
  readonly collection: string;
  readonly indexPath: string;
  readonly notFound: ErrorKind;
  /** 409 with the current item; undefined without revisions. */
  readonly conflict: ErrorKind | undefined;
  readonly envelopes: { [K in keyof Envelopes<Item, One, Many>]: Type<Envelopes<Item, One, Many>[K]> };

  constructor(readonly options: ResourceOptions<Item>) {
    const { name, plural = `${name}s`, alias, item, notFound } = options;
    this.kind = snake(name);
    this.one = [...(alias ? [alias[0]] : []), this.kind] as One[];
    this.many = [...(alias ? [alias[1]] : []), snake(plural)] as Many[];
    this.collection = snake(plural);
    this.indexPath = `/apis/v1/${options.path}/index`;
    this.envelopes = envelopes(item, this.one, this.many);
    this.notFound = defineError(404, 'not_found', notFound);
    this.conflict =
      options.revision &&
      defineError(
        409,
        'conflict',
        `The ${name} has changed since you read it; merge and retry with the revision in this response.`,
        {
          example: { revision: 4, ...Object.fromEntries(this.one.map((key) => [key, exampleOf(item)])) },
          type: conflictType(item, this.one),
          headers: ['ETag'],
        },
      );
  }

  /** `listNoteFolders` and so on: the operation id for a verb. */
  operationId(verb: string, of: 'one' | 'many' = 'one'): string {
    const { name, plural = `${name}s` } = this.options;
    const words = (of === 'one' ? name : plural).split(' ');
    return verb + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  }

  /** `{ "<name>": item }`, with the ETag where the resource has revisions. */
  response(item: Shown<Item>, options?: ResponseOptions): JsonReply<Envelopes<Item, One, Many>['item']>;
  response<More extends object>(
    item: Shown<Item>,
    options: WithExtra<More>,
  ): JsonReply<Envelopes<Item, One, Many>['item'] & More>;
  response<More extends object>(
    item: Shown<Item>,
    { status, location, remembered, tag, extra }: Partial<WithExtra<More>> = {},
  ): JsonReply<Envelopes<Item, One, Many>['item'] & More> {
    const json = typeof item === 'string' ? item : JSON.stringify(item);
    const own = typeof item === 'string' ? null : (item as unknown as ResponseOptions['tag']);
    const revision = tag === undefined ? own : tag;
    const hasTag = this.options.revision !== undefined && revision;
    const etag = hasTag ? revisionTag(this.kind, revision.id, revision.revision) : undefined;
    const texts = Object.fromEntries(this.one.map((name) => [name, json]));
    return JsonReply.named(texts, { status, location, etag, remembered }, extra);
  }

  /** 201 with the Location of the new item. */
  created(
    id: string,
    item: Shown<Item>,
    options?: ResponseOptions,
  ): JsonReply<Envelopes<Item, One, Many>['item']>;
  created<More extends object>(
    id: string,
    item: Shown<Item>,
    options: WithExtra<More>,
  ): JsonReply<Envelopes<Item, One, Many>['item'] & More>;
  created<More extends object>(
    id: string,
    item: Shown<Item>,
    options: Partial<WithExtra<More>> = {},
  ): JsonReply<Envelopes<Item, One, Many>['item'] & More> {
    const all = { status: 201, location: `/apis/v1/${this.options.path}/${id}`, ...options };
    return this.response<More>(item, all as WithExtra<More>);
  }

  /** The deleted item, with `deleted: true` and without an ETag. */
  deleted(item: Shown<Item>): JsonReply<Envelopes<Item, One, Many>['deleted']> {
    return this.response(item, { tag: null, extra: { deleted: true } });
  }

  /** `{ "<plural>": [...], "next": cursor | null }` */
  page(items: readonly Shown<Item>[], next: string | null): JsonReply<Envelopes<Item, One, Many>['list']> {
    const texts = items.map((item) => (typeof item === 'string' ? item : JSON.stringify(item)));
    return JsonReply.namedList(this.many, texts, { next });
  }

  /**
   * Checks a write of a row that exists and that the caller may write. The order is that of the contract: 422
   * `invalid_revision`, 422 of the body, 409 `conflict`.
   * @param current shapes the row for the conflict
   */
  async checkWrite(
    row: { id: string; revision: number },
    expected: ExpectedRevision,
    body: Checked<unknown> | null,
    current: () => Shown<Item> | Promise<Shown<Item>>,
  ): Promise<void> {
    const matches = expected.matches(row);
    if (body?.error) throw body.error;
    if (!matches) throw this.conflictWith(row, await current());
  }

  /** 409 `conflict` with the current item and its ETag. */
  private conflictWith({ id, revision }: { id: string; revision: number }, item: Shown<Item>): ApiError {
    const current = typeof item === 'string' ? (JSON.parse(item) as unknown) : item;
    const items = Object.fromEntries(this.one.map((name) => [name, current]));
    const headers = { ETag: revisionTag(this.kind, id, revision) };
    return this.conflict!.with({ body: { revision, ...items }, headers });
  }
}

/** Declares a resource. */
export const resource = <
  Item extends object,
  const Name extends string,
  const Plural extends string = `${Name}s`,
  const Alias extends readonly [one: string, many: string] = readonly [Snake<Name>, Snake<Plural>],
>(
  options: ResourceOptions<Item> & { name: Name; plural?: Plural; alias?: Alias },
): Resource<Item, Snake<Name> | Alias[0], Snake<Plural> | Alias[1]> => new Resource(options);

const snake = (words: string): string => words.replaceAll(' ', '_');

/** Response classes of a resource, as named schemas of the documentation. */
function envelopes(item: Type, one: readonly string[], many: readonly string[]) {
  const name = item.name.replace(/Response$/, '');
  const single = members(one, item);
  const list = Object.fromEntries(many.map((key) => [key, { type: [item] }]));
  const records = {
    type: 'array',
    items: { anyOf: [{ $ref: getSchemaPath(item) }, { $ref: getSchemaPath(FeedRemoval) }] },
    example: [],
  };
  const deleted = { enum: [true], example: true };
  return {
    item: documented(`${name}Envelope`, single),
    list: documented(`${name}ListEnvelope`, list, PageEnvelope),
    deleted: documented(`Deleted${name}Envelope`, { ...single, deleted }),
    changes: documented(
      `${name}ChangesEnvelope`,
      Object.fromEntries(many.map((key) => [key, records])),
      FeedMeta,
      [item, FeedRemoval],
    ),
    index: documented(`${name}IndexEnvelope`, list, IndexMeta),
  };
}

/** The item under each of its names. */
const members = (one: readonly string[], item: Type) =>
  Object.fromEntries(
    one.map((key, n) => [key, { type: item, ...(n > 0 && { description: `The same as \`${one[0]}\`.` }) }]),
  );

function conflictType(item: Type, one: readonly string[]): Type {
  const name = item.name.replace(/Response$/, '');
  return documented(
    `${name}ConflictResponse`,
    {
      error: { enum: ['conflict'], example: 'conflict' },
      revision: { type: 'integer', minimum: 1, example: 4, description: 'The revision to retry with.' },
      ...members(one, item),
    },
    ErrorResponse,
  );
}

/** A class that exists for the documentation only, with these properties. */
function documented(
  name: string,
  properties: Record<string, object>,
  base: Type = class {},
  models: Type[] = [],
): Type {
  const made = { [name]: class extends (base as Type<object>) {} }[name] as Type;
  for (const [key, options] of Object.entries(properties))
    ApiProperty(options)(made.prototype as object, key);
  if (models.length > 0) ApiExtraModels(...models)(made);
  return made;
}

/**
 * The routes `changes` and `index` of a resource, for a controller to extend. Register it before the controller that has
 * `/:id`.
 */
export function ResourceFeed(
  resource: AnyResource,
  source: Type<FeedSource>,
  texts: { changes?: string; index?: string } = {},
) {
  const { tag, name, plural = `${name}s` } = resource.options;
  return FeedController({
    source,
    tag,
    item: resource.operationId('').replace(/^./, (letter) => letter.toLowerCase()),
    changes: {
      type: resource.envelopes.changes,
      description: texts.changes ?? `The ${plural} that changed, each once as it is now, and removals.`,
    },
    index: {
      type: resource.envelopes.index,
      summary: `Rebuild the index of ${plural}`,
      description:
        texts.index ??
        `All ${plural} that you can see, newest change first. Then follow the change feed from \`cursor\`.`,
    },
  });
}
