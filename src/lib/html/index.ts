export {
  contentIdOf,
  isLinked,
  type ReadAttachment,
  toAttachmentLinks,
  toContentIdLinks,
} from './attachment-links.js';
export { cleanHtml } from './clean.js';
export { type HtmlTooComplexCode, HtmlTooComplexError, parseHtml } from './tree.js';
export { showVisible } from './visible.js';
export { isPlainlyClean } from './fast-path.js';
export { documentText, escapeHtml, plainText, textPieces, withoutScripts } from './text.js';
