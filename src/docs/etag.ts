import { createHash } from 'node:crypto';

/** The ETag of a text that clients revalidate. */
export const etagOf = (text: string): string => `"${createHash('sha256').update(text).digest('base64url')}"`;
