const EXTENSION = '.vcf';
const MARK = '.';

/**
 * The external_id of the contact with a name in a path: the name without its extension. A name without the extension keeps its form by
 * a full stop at the end of the external_id.
 */
export const externalIdOf = (name: string): string =>
  name.length > EXTENSION.length && name.endsWith(EXTENSION)
    ? name.slice(0, -EXTENSION.length)
    : name + MARK;

/** The name of a contact in a path; `externalIdOf` returns its external_id. */
export function cardName(externalId: string): string {
  const plain = externalId.slice(0, -MARK.length);
  const isMarked = externalId.endsWith(MARK) && plain !== '' && externalIdOf(plain) === externalId;
  return isMarked ? plain : externalId + EXTENSION;
}
