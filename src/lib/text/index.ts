/**
 * Anything but spaces, controls, marks without a base, fillers (U+3164, U+2800) and other invisible characters. Characters that are
 * private, or newer than the Unicode of this Node, count as visible.
 */
const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\u2800\p{Cc}\p{Cf}\p{Cs}\p{M}]/u;

/** Whether a text has a visible character: whether a name, a title or a required answer counts as filled in. */
export const hasVisibleCharacter = (text: string): boolean => VISIBLE.test(text);

/** The text, trimmed; '' without a visible character. */
export const filledText = (text: string): string => (hasVisibleCharacter(text) ? text.trim() : '');
