export { closedPage } from './closed-page.js';
export { type DocxSource, DocxTooLargeError, writeDocx } from './writer.js';
