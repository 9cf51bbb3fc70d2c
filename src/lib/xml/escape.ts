import { ENTITIES, NOT_XML } from './characters.js';

const SPECIAL = new RegExp(`[&<>"\\r${NOT_XML}]`, 'g');
const LONE = /\p{Surrogate}/gu;

/** Character data of an element or an attribute value. Characters that XML excludes are left out. */
export const xmlText = (text: string): string =>
  (text.isWellFormed() ? text : text.replace(LONE, '')).replace(
    SPECIAL,
    (character) => ENTITIES[character] ?? (character === '\r' ? '&#13;' : ''),
  );
