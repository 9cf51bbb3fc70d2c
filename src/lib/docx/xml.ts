import { ENTITIES, NOT_XML } from '../xml/index.js';

/** Characters that XML excludes, and other control characters. */
const UNFIT = new RegExp(String.raw`[${NOT_XML}\u007f-\u009f\p{Surrogate}]`, 'gu');

const escapeXml = (text: string): string => text.replace(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark);

/** Text without the characters that XML does not allow. */
export const withoutControls = (text: string): string => text.replace(UNFIT, '');

/** Text as the content of an element. */
export const xmlText = (text: string): string => escapeXml(withoutControls(text));

/** Text as an attribute value between double quotes, on one line. */
export const xmlAttribute = (text: string): string =>
  escapeXml(withoutControls(text.replace(/[\t\n\r]+/g, ' ')));

/** An empty WordprocessingML element with `w:val`. */
export const wVal = (name: string, value: string | number): string => `<w:${name} w:val="${value}"/>`;
