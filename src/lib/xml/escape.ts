import { ENTITIES, NOT_XML } from './characters.js';

const INVALID = new RegExp(`[${NOT_XML}]|\\p{Surrogate}`, 'gu');

/** Character data of an element or an attribute value. Characters that XML excludes are left out. */
export const xmlText = (text: string): string =>
  text.replace(INVALID, '').replace(/[&<>"\r]/g, (character) => ENTITIES[character] ?? '&#13;');
