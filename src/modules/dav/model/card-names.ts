const EXTENSION = '.vcf';
/** Ends the external_id of a contact whose name lacks the extension. */
const MARK = '.';

/**
 * The external_id of the contact with a name in a path: the name without its extension, or the whole name with a mark. Different names
 * have different external_ids.
 */
export function externalIdOf(name: string): string {
  const stem = name.slice(0, -EXTENSION.length);
  return name.endsWith(EXTENSION) && stem !== '' && !isMarked(stem) ? stem : name + MARK;
}

/** The name of a contact in a path; `externalIdOf` returns its external_id. */
export const cardName = (externalId: string): string =>
  isMarked(externalId) ? externalId.slice(0, -MARK.length) : externalId + EXTENSION;

/** Whether an external_id is that of a name without the extension. */
function isMarked(externalId: string): boolean {
  const name = externalId.slice(0, -MARK.length);
  return externalId.endsWith(MARK) && name !== '' && externalIdOf(name) === externalId;
}
