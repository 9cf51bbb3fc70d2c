/** Detail error keywords of RFC 7644, section 3.12. */
export type ScimType =
  | 'invalidFilter'
  | 'invalidPath'
  | 'invalidSyntax'
  | 'invalidValue'
  | 'mutability'
  | 'noTarget'
  | 'tooMany'
  | 'uniqueness';

/** Input that SCIM rejects with 400. */
export class ScimInputError extends Error {
  constructor(
    readonly scimType: ScimType,
    detail: string,
  ) {
    super(detail);
    this.name = 'ScimInputError';
  }
}
