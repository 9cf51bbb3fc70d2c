import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { type ApiError, Errors } from '../http/errors.js';
import { IDEMPOTENCY_ERRORS } from '../http/api-docs.js';
import { documentsInput } from '../http/input-docs.js';

/** `"note:<id>:r<revision>"` (spec 2.1). It names the revision, not the representation: no 304 may be derived from it. */
export function revisionTag(kind: string, id: string, revision: number): string {
  return `"${kind}:${id}:r${revision}"`;
}

const TAG = /^(?:W\/)?"([a-z_]+):([0-9a-fA-F-]{36}):r([1-9]\d{0,14})"$/;

/** Reads exactly one tag, strong or weakened by a compressing proxy; undefined for `*`, lists, revisions below 1 and anything else. */
function parseRevisionTag(header: string): { kind: string; id: string; revision: number } | undefined {
  const match = TAG.exec(header.trim());
  if (!match) return undefined;
  return { kind: match[1]!, id: match[2]!.toLowerCase(), revision: Number(match[3]) };
}

/** The maximum of PostgreSQL's int4. A higher number is treated as stale, because no revision has it. */
const MAX_REVISION = 2_147_483_647;

/**
 * The revision that the client read. An invalid or missing one is not rejected here: "not found", "forbidden" and "deleted"
 * come first (spec section 7), and only the service knows those.
 */
export class ExpectedRevision {
  private constructor(
    private readonly revision: number | undefined,
    readonly error: ApiError | undefined,
    /** The object that the tag names, where the path does not. */
    private readonly taggedId?: string,
  ) {}

  /**
   * Takes `If-Match` or `base_revision`, or both when they agree.
   * @param kind of object that the tag must name, e.g. `note`
   * @param id of the object in the path; null if the path does not contain the id: then `matches` compares it
   * @param optional a missing revision is valid
   */
  static read(
    kind: string,
    id: string | null,
    ifMatch: string | undefined,
    baseRevision: unknown,
    optional = false,
  ): ExpectedRevision {
    const tag = ifMatch === undefined ? undefined : parseRevisionTag(ifMatch);
    if (ifMatch !== undefined && !tag)
      return invalid('If-Match', `must be one tag of the form "${kind}:<id>:r<revision>"`);
    if (tag && (tag.kind !== kind || (id !== null && tag.id !== id.toLowerCase())))
      return invalid('If-Match', `names another object than this ${kind}`);
    if (baseRevision !== undefined && !(Number.isInteger(baseRevision) && (baseRevision as number) >= 1)) {
      return invalid('base_revision', 'must be a whole number, 1 or higher');
    }
    if (tag && baseRevision !== undefined && tag.revision !== baseRevision)
      return invalid('base_revision', 'differs from If-Match');
    const revision = tag?.revision ?? (baseRevision as number | undefined);
    if (revision === undefined && optional) return new ExpectedRevision(undefined, undefined);
    if (revision === undefined) return invalid('base_revision', 'is missing, and so is If-Match');
    return new ExpectedRevision(Math.min(revision, MAX_REVISION), undefined, tag?.id);

    function invalid(field: string, what: string): ExpectedRevision {
      const error = Errors.invalidRevision.with({
        details: [{ field, code: 'invalid_revision', message: `${field} ${what}` }],
      });
      return new ExpectedRevision(undefined, error);
    }
  }

  /** @throws ApiError 422 `invalid_revision` */
  get value(): number {
    if (this.error) throw this.error;
    return this.revision as number;
  }

  /**
   * Whether a write may go on: the revision is the current one, or is optional and missing. The tag of another object is stale.
   * @throws ApiError 422
   */
  matches(current: { id: string; revision: number }): boolean {
    const revision = this.valueIfGiven ?? current.revision;
    return revision === current.revision && (this.taggedId ?? current.id) === current.id;
  }

  /** The revision, or null where it is optional and missing. @throws ApiError 422 `invalid_revision` */
  get valueIfGiven(): number | null {
    if (this.error) throw this.error;
    return this.revision ?? null;
  }
}

/** The precondition of this write, as the revision interceptor read it. */
export const Expected = createParamDecorator(
  (_: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<{ expected?: ExpectedRevision }>().expected,
  // The interceptor takes an `Idempotency-Key` too.
  [documentsInput({ errors: [Errors.invalidRevision, ...IDEMPOTENCY_ERRORS] })],
);
