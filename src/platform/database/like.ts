/** Escapes the wildcards of LIKE. */
export const escapeLike = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`);

/** The LIKE pattern of all composed texts (NFC) that contain this one. */
export const likePattern = (text: string): string => `%${escapeLike(text.normalize('NFC'))}%`;
