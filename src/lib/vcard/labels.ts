/** Labels of Apple's address book: `item1.X-ABLabel:Summer house` names the property `item1.ADR`. */

/** `_$!<Home>!$_` is a label that Apple translates. */
const BUILT_IN = /^_\$!<([^>]*)>!\$_$/;

/** The text between the marks of a built-in label, in lower case; undefined for a label of the user's own. */
export function builtInLabel(label: string): string | undefined {
  return BUILT_IN.exec(label)?.[1]?.trim().toLowerCase();
}

/** `spouse` becomes `_$!<Spouse>!$_`. */
export function formatBuiltInLabel(type: string): string {
  return `_$!<${type.charAt(0).toUpperCase()}${type.slice(1)}>!$_`;
}
