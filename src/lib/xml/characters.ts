/**
 * The characters that XML 1.0 excludes (section 2.2, `Char`), as the inside of a character class. Lone surrogates, which it
 * excludes too, are left to `isWellFormed()` and `\p{Surrogate}`.
 */
export const NOT_XML = String.raw`\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff`;

/** The entities of the characters that delimit markup and attribute values. */
export const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};
