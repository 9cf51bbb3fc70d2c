export { closedPage } from './closed-page.js';
export { type DocxSource, writeDocx } from './writer.js';
