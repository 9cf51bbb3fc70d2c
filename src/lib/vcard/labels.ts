/** Labels of Apple's address book: `item1.X-ABLabel:Summer house` names the property `item1.ADR`. */

/** `_$!<Home>!$_` is a label that Apple translates. */
const BUILT_IN = /^_\$!<([^>]*)>!\$_$/;

/** The text between the marks of a built-in label, in lower case; undefined for a label of the user's own. */
export function builtInLabel(label: string): string | undefined {
  return BUILT_IN.exec(label)?.[1]?.trim().toLowerCase();
}

/** Built-in labels of Apple whose types have another name. */
const LABEL_TYPES: ReadonlyMap<string, string[]> = new Map([
  ['mobile', ['cell']],
  ['iphone', ['cell', 'iphone']],
  ['homefax', ['home', 'fax']],
  ['workfax', ['work', 'fax']],
  ['otherfax', ['fax']],
]);

/** The types of an entry with this built-in label. */
export const typesOfLabel = (builtIn: string): string[] =>
  LABEL_TYPES.get(builtIn.replaceAll(/\s/g, '')) ?? [builtIn];

/** `spouse` becomes `_$!<Spouse>!$_`. */
export function formatBuiltInLabel(type: string): string {
  return `_$!<${type.charAt(0).toUpperCase()}${type.slice(1)}>!$_`;
}
