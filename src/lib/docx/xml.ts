/** Control characters and lone surrogates. XML does not allow most of them. */
// oxlint-disable-next-line no-control-regex -- these characters are removed
const UNFIT = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\uFFFE\uFFFF\p{Surrogate}]/gu;

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string => text.replace(/[&<>"]/g, (mark) => ENTITIES[mark] ?? mark);

/** Text without the characters that XML does not allow. */
export const withoutControls = (text: string): string => text.replace(UNFIT, '');

/** Text as the content of an element. */
export const xmlText = (text: string): string => escaped(withoutControls(text));

/** Text as an attribute value between double quotes, on one line. */
export const xmlAttribute = (text: string): string =>
  escaped(withoutControls(text.replace(/[\t\n\r]+/g, ' ')));

/** An empty WordprocessingML element with `w:val`. */
export const wVal = (name: string, value: string | number): string => `<w:${name} w:val="${value}"/>`;
