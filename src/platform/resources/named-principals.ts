/**
 * Whether a member or group with access to an object is shown. A deleted group, which has no name any more, is not; a request may still
 * name it, as a client does that has read the list before.
 */
export const hasName = <R extends { name: string | null }>(row: R): row is R & { name: string } =>
  row.name !== null;
