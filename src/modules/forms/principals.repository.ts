import { Injectable } from '@nestjs/common';
import { workspace } from '../../platform/database/statement.js';
import type { Reader } from '../../platform/database/tx.js';
import { detailsAt, type ErrorKind, Errors } from '../../platform/http/errors.js';
import type { PrincipalInput } from './input/form.dto.js';

/** A member or a group with access. */
export interface Principal {
  kind: 'user' | 'group';
  id: string;
}

const unknown = workspace.statement<{ place: number }>(
  'form_access.unknown',
  `SELECT principal.place::int - 1 AS place
     FROM unnest($2::text[], $3::uuid[]) WITH ORDINALITY AS principal (kind, id, place)
    WHERE NOT EXISTS (SELECT FROM member_profiles member
                       WHERE principal.kind = 'user' AND member.tenant_id = $1 AND member.user_id = principal.id
                         AND member.status = 'active')
      AND NOT EXISTS (SELECT FROM group_names groups
                       WHERE principal.kind = 'group' AND groups.tenant_id = $1 AND groups.id = principal.id)
    ORDER BY principal.place`,
);

/** SQL for the name of a principal; null: a deleted group. @param row alias of the row with `principal_kind` and `principal_id` */
export const principalName = (row: string): string =>
  `coalesce((SELECT member.display_name FROM member_profiles member WHERE ${row}.principal_kind = 'user'
                AND member.tenant_id = ${row}.tenant_id AND member.user_id = ${row}.principal_id),
            (SELECT groups.name FROM group_names groups WHERE ${row}.principal_kind = 'group'
                AND groups.tenant_id = ${row}.tenant_id AND groups.id = ${row}.principal_id),
            CASE WHEN ${row}.principal_kind = 'user' THEN '' END)`;

/** Members and groups that get access to forms and reports. */
@Injectable()
export class PrincipalsRepository {
  /**
   * Reads the principals of the list `field` of an input, which replaces those `present`.
   * @throws ApiError 422 for entries that do not name exactly one member or group, or that repeat another;
   *   `unknownPrincipal` for those that are neither present nor active members or groups of the workspace
   */
  async read(
    reader: Reader,
    tenantId: string,
    field: string,
    entries: readonly PrincipalInput[],
    unknownPrincipal: ErrorKind,
    present: readonly Principal[],
  ): Promise<Principal[]> {
    const { principals, invalid } = principalsOf(entries);
    if (invalid.length > 0)
      throw Errors.validationFailed.with({
        details: detailsAt(
          field,
          invalid,
          'one_principal',
          'must name one user_id or group_id, or kind and id, once',
        ),
      });
    const values = [principals.map(({ kind }) => kind), principals.map(({ id }) => id)];
    const isPresent = new Set(present.map(keyOf));
    const places = (await reader.query(unknown, [tenantId, ...values]))
      .map(({ place }) => place)
      .filter((place) => !isPresent.has(keyOf(principals[place]!)));
    if (places.length > 0)
      throw unknownPrincipal.with({
        details: detailsAt(
          field,
          places,
          'unknown_user',
          'is not an active member or group of this workspace',
        ),
      });
    return principals;
  }
}

const keyOf = ({ kind, id }: Principal): string => `${kind} ${id}`;

/** @returns the positions of entries that name none or two, or that repeat another */
function principalsOf(entries: readonly PrincipalInput[]): {
  principals: Principal[];
  invalid: number[];
} {
  const named = entries.map(namedBy);
  const principals = named.map(([principal = { kind: 'user', id: '' }]) => principal);
  const first = new Map(principals.map((principal, n) => [keyOf(principal), n]));
  const invalid = named.flatMap(({ length }, n) =>
    length === 1 && first.get(keyOf(principals[n]!)) === n ? [] : [n],
  );
  return { principals, invalid };
}

/** The members and groups that an entry names. */
const namedBy = ({ user_id, group_id, kind, id }: PrincipalInput): Principal[] =>
  [
    { kind: 'user' as const, id: user_id },
    { kind: 'group' as const, id: group_id },
    { kind, id },
  ].flatMap((named) =>
    named.kind === undefined || named.id === undefined
      ? []
      : [{ kind: named.kind, id: named.id.toLowerCase() }],
  );
