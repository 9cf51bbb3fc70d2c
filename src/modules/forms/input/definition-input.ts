import { checkComplete, checkDefinition, type Definition, type Problem } from '../../../lib/forms/index.js';
import type { FieldProblem } from '../../../platform/http/api-error.js';
import type { Form } from '../forms.entity.js';
import { FormErrors } from '../forms.errors.js';
import { formConflict } from '../forms.resource.js';

/** Errors in one response. */
const MAX_DETAILS = 100;

export const detailsOf = (problems: readonly Problem[]): FieldProblem[] =>
  problems.slice(0, MAX_DETAILS).map(({ path, code, message }) => ({ field: path, code, message }));

/** Reads the definition of a draft. @throws ApiError 422 `invalid_definition` */
export function draftOf(plain: object): Definition {
  const { definition, problems } = checkDefinition(plain);
  if (problems.length > 0) throw FormErrors.invalidDefinition.with({ details: detailsOf(problems) });
  return definition;
}

/** @throws ApiError 422 `invalid_definition` for a definition that cannot be published */
export function assertComplete(definition: Definition): void {
  const problems = checkComplete(definition);
  if (problems.length > 0) throw FormErrors.invalidDefinition.with({ details: detailsOf(problems) });
}

/** @throws ApiError 409 `conflict` */
export function assertRev({ draft_rev }: Pick<Form, 'draft_rev'>, expected: number | undefined): void {
  if (expected !== undefined && expected !== draft_rev) throw formConflict.with({ body: { draft_rev } });
}
